/** The colours that output may have here: whatever a program asks for becomes the nearest of these. */
export type Hue = 'red' | 'green' | 'yellow' | 'blue' | 'magenta' | 'cyan' | 'grey';

/** How a piece of output looks. */
export interface TerminalLook {
  readonly hue: Hue | null;
  readonly tint: Hue | null;
  readonly isBold: boolean;
  readonly isFaint: boolean;
  readonly isItalic: boolean;
  readonly isUnderlined: boolean;
  readonly isStruck: boolean;
  readonly isReversed: boolean;
  /** Where a link of the output leads: `http` or `https` only. */
  readonly link: string | null;
}

export const PLAIN_LOOK: TerminalLook = {
  hue: null,
  tint: null,
  isBold: false,
  isFaint: false,
  isItalic: false,
  isUnderlined: false,
  isStruck: false,
  isReversed: false,
  link: null,
};

/** The eight colours of a terminal, by their number. Black and white are the page's own ink. */
const BASE: readonly (Hue | null)[] = [null, 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', null];

const FLAGS: Record<number, Partial<TerminalLook>> = {
  1: { isBold: true },
  2: { isFaint: true },
  3: { isItalic: true },
  4: { isUnderlined: true },
  7: { isReversed: true },
  9: { isStruck: true },
  21: { isUnderlined: true },
  22: { isBold: false, isFaint: false },
  23: { isItalic: false },
  24: { isUnderlined: false },
  27: { isReversed: false },
  29: { isStruck: false },
  39: { hue: null },
  49: { tint: null },
};

/** A look after a colour sequence (SGR), given by what stands between `ESC [` and `m`. Unknown codes change nothing. */
export function applyColours(look: TerminalLook, parameters: string): TerminalLook {
  // 38:2::R:G:B is the same as 38;2;R;G;B.
  const codes = parameters
    .replace(/([34]8):2::?/g, '$1;2;')
    .split(/[;:]/)
    .map(Number);
  let next = look;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] as number;
    if (code === 0) next = { ...PLAIN_LOOK, link: look.link };
    else if (code === 38 || code === 48) {
      const { hue, used } = readExtended(codes.slice(at + 1));
      next = { ...next, [code === 38 ? 'hue' : 'tint']: hue };
      at += used;
    } else next = { ...next, ...(FLAGS[code] ?? readBase(code)) };
  }
  return next;
}

function readBase(code: number): Partial<TerminalLook> {
  if (code >= 30 && code <= 37) return { hue: BASE[code - 30] ?? null };
  if (code >= 40 && code <= 47) return { tint: BASE[code - 40] ?? null };
  if (code >= 90 && code <= 97) return { hue: code === 90 ? 'grey' : (BASE[code - 90] ?? null) };
  if (code >= 100 && code <= 107) return { tint: code === 100 ? 'grey' : (BASE[code - 100] ?? null) };
  return {};
}

/** A colour of the palette of 256 (`5;N`) or a true one (`2;R;G;B`), and how many codes it took. */
function readExtended(codes: readonly number[]): { hue: Hue | null; used: number } {
  const [kind, ...rest] = codes;
  if (kind === 5) return { hue: fromPalette(rest[0] ?? 0), used: 2 };
  if (kind === 2) return { hue: fromRgb(rest[0] ?? 0, rest[1] ?? 0, rest[2] ?? 0), used: 4 };
  // What no terminal knows ends the sequence.
  return { hue: null, used: codes.length };
}

function fromPalette(number: number): Hue | null {
  if (number < 16) return number === 8 ? 'grey' : (BASE[number % 8] ?? null);
  if (number >= 232) return number < 250 ? 'grey' : null;
  const cube = number - 16;
  const level = (step: number) => (step === 0 ? 0 : 55 + 40 * step);
  return fromRgb(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

/** The nearest of the hues; what has hardly any colour is grey or the page's own ink. */
function fromRgb(red: number, green: number, blue: number): Hue | null {
  const most = Math.max(red, green, blue);
  const spread = most - Math.min(red, green, blue);
  if (spread < 40) return most > 80 && most < 200 ? 'grey' : null;
  const angle =
    most === red
      ? ((green - blue) / spread) * 60
      : most === green
        ? 120 + ((blue - red) / spread) * 60
        : 240 + ((red - green) / spread) * 60;
  const hues: Hue[] = ['red', 'yellow', 'green', 'cyan', 'blue', 'magenta'];
  return hues[Math.round(((angle + 360) % 360) / 60) % 6] ?? null;
}

const PATHS = {
  plus: 'M8 3v10M3 8h10',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  close: 'M4 4l8 8M12 4l-8 8',
  send: 'M8 13V3M3.5 7.5L8 3l4.5 4.5',
  stop: 'M4.5 4.5h7v7h-7z',
  down: 'M8 3v10M3.5 8.5L8 13l4.5-4.5',
  up: 'M8 13V3M3.5 7.500L8 3l4.500 4.500',
  check: 'M3 8.500l3.200 3.200L13 4.800',
  chevron: 'M6 4l4 4-4 4',
  terminal: 'M3 4.5l3.5 3.5L3 11.5M8.5 12H13',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  pencil: 'M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3zM9.3 4.4l2.3 2.3',
  folder: 'M2 4.500a1 1 0 011-1h3.300l1.500 1.700H13a1 1 0 011 1v5.600a1 1 0 01-1 1H3a1 1 0 01-1-1z',
  play: 'M5 3.500l7.500 4.500L5 12.500z',
  search: 'M7 11.5a4.5 4.5 0 100-9 4.5 4.5 0 000 9zM10.3 10.3L13.5 13.5',
  globe: 'M8 14A6 6 0 108 2a6 6 0 000 12zM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14c-2-2-2.6-4-2.6-6S6 4 8 2z',
  book: 'M3 3.5h4.2L8 4.3l.8-.8H13v9H8.8l-.8.8-.8-.8H3zM8 4.3v9',
  chat: 'M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z',
  agents:
    'M8 3.2a1.7 1.7 0 100 3.4 1.7 1.7 0 000-3.4zM4 13v-1.5A2.5 2.5 0 016.500 9h3A2.500 2.500 0 0112 11.500V13',
  tool: 'M10.500 2.500a3 3 0 00-2.800 4.300L3 11.500 4.500 13l4.700-4.700a3 3 0 003.900-3.900L11.300 6.200 9.800 4.700l1.800-1.800a3 3 0 00-1.100-.4z',
  bell: 'M4 11V7.500a4 4 0 018 0V11l1 1H3zM6.800 14h2.400',
  clip: 'M11.500 6.500l-4.600 4.600a1.800 1.800 0 01-2.500-2.500L9.600 3.400a3 3 0 014.200 4.200L8.600 12.800',
  inbox:
    'M2.500 9.500L4 3.500h8l1.500 6v3h-11zM2.500 9.500h3.200c.2 1.200 1 2 2.300 2s2.100-.8 2.300-2h3.200',
  pulse: 'M1.500 8.500H5L6.800 4l2.700 8 1.700-3.500h3.300',
  shield: 'M8 2l5 1.800v3.700c0 3-2 5.300-5 6.500-3-1.200-5-3.500-5-6.500V3.800z',
  settings: 'M2.500 4.500h6M11.500 4.500h2M10 3v3M2.500 11.500h2M7.500 11.500h6M6 10v3',
  sidebar: 'M2.500 3h11v10h-11zM6.500 3v10',
  keyboard: 'M1.500 4.500h13v7h-13zM4 7h.1M6.700 7h.1M9.300 7h.1M12 7h.1M5 9.500h6',
  person: 'M8 7.500a2.500 2.500 0 100-5 2.500 2.500 0 000 5zM3 13.500c.5-2.500 2.500-4 5-4s4.500 1.500 5 4',
  clock: 'M8 14A6 6 0 108 2a6 6 0 000 12zM8 4.500V8l2.300 1.600',
  warning: 'M8 2.500l6 10.500H2zM8 6.500v3M8 11.200v.3',
  again: 'M13 8a5 5 0 11-1.500-3.500L13 6M13 2.500V6H9.500',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  download: 'M8 2.500v8M4.500 7L8 10.500 11.500 7M3 13.500h10',
  trash: 'M3 4.500h10M6.500 4.500v-2h3v2M4.500 4.500l.6 9h5.800l.6-9M6.800 7v4M9.200 7v4',
} as const;

export type IconName = keyof typeof PATHS;

/** A drawn sign beside a word; it says nothing by itself. */
export function Icon({ name, className = '' }: { name: IconName; className?: string }) {
  return (
    <svg
      viewBox="0 0 16 16"
      className={`size-4 shrink-0 ${className}`}
      fill="none"
      stroke="currentColor"
      strokeWidth="1.4"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}

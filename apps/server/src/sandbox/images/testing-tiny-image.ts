import { execFileSync } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pickBuildEnvironment } from './build-environment.ts';
import { RECIPES } from './image-recipe.ts';
import { ImageStore } from './image-store.ts';
import { ELF, makeVmlinuz } from './testing-kernel.ts';

const MODULES = [
  'virtio/virtio',
  'virtio/virtio_ring',
  'virtio/virtio_mmio',
  'virtio/virtio_pci_modern_dev',
  'virtio/virtio_pci_legacy_dev',
  'virtio/virtio_pci',
  'block/virtio_blk',
  'char/hw_random/virtio-rng',
  'char/virtio_console',
];

/** Stands in for mmdebstrap: makes a root of two files and hands the kernel's package out, as the hooks would have. */
const MMDEBSTRAP = `#!/bin/sh
set -eu
[ "$1" = --unshare-helper ] && { shift; exec "$@"; }
here=$(dirname "$0")
echo $$ >>"$here/runs"
for argument; do
	case $argument in
	--customize-hook=copy-out*) to=$(echo "$argument" | sed "s/.*'\\(.*\\)'/\\1/") ;;
	*/root) root=$argument ;;
	esac
done
mkdir -p "$root/etc" "$to/vitto-kernel"
echo tiny >"$root/etc/hostname"
cp "$here/kernel.deb" "$to/vitto-kernel/"
. "$here/then"
`;

/** A recipe that is built in a moment by a fake mmdebstrap, everything else being real. */
export class TinyImage {
  readonly folder: string;
  readonly recipes: string;
  readonly store: ImageStore;
  readonly environment: Readonly<Record<string, string>>;

  private constructor(folder: string) {
    this.folder = folder;
    this.recipes = join(folder, 'recipes');
    this.store = new ImageStore(join(folder, 'images'));
    this.environment = pickBuildEnvironment({ PATH: join(folder, 'bin') });
  }

  static async make(): Promise<TinyImage> {
    const tiny = new TinyImage(await mkdtemp(join(tmpdir(), 'vitto-image-')));
    await chmod(tiny.folder, 0o755);
    const { recipes } = tiny;
    for (const name of ['tiny', 'guest', 'root/etc']) await mkdir(join(recipes, name), { recursive: true });
    await cp(join(RECIPES, 'build'), join(recipes, 'build'), { recursive: true });
    await tiny.change('a');
    const programs = 'for name in vitto-init vitto-agent vitto-git-ssh; do echo "$name" >"$1/$name"; done\n';
    await writeFile(join(recipes, 'guest/build.sh'), programs);
    await tiny.#makeFakes();
    return tiny;
  }

  /** Makes the recipe another one. */
  async change(mark: string): Promise<void> {
    const text = `# ${mark}\nname: tiny\nsuite: bookworm\nmemoryMib: 512\ncpus: 1\ndiskGib: 1\npackages: [git]\n`;
    await writeFile(join(this.recipes, 'tiny/recipe.yaml'), text);
  }

  /** What the fake does at its end: a piece of shell. */
  async endWith(script: string): Promise<void> {
    await writeFile(join(this.folder, 'bin/then'), script);
  }

  /** Process numbers of the fakes that were started. */
  async runs(): Promise<number[]> {
    const text = await readFile(join(this.folder, 'bin/runs'), 'utf8').catch(() => '');
    return text.split('\n').filter(Boolean).map(Number);
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  async #makeFakes(): Promise<void> {
    const bin = join(this.folder, 'bin');
    const tree = join(this.folder, 'kernel');
    await mkdir(join(tree, 'boot'), { recursive: true });
    await mkdir(join(tree, 'DEBIAN'));
    await mkdir(bin);
    await writeFile(
      join(tree, 'DEBIAN/control'),
      'Package: linux-image-tiny\nVersion: 1\nArchitecture: all\nMaintainer: x <x@localhost>\nDescription: x\n',
    );
    await writeFile(
      join(tree, 'boot/vmlinuz-6.1-tiny'),
      makeVmlinuz(Buffer.concat([ELF, Buffer.alloc(9_000, 'kernel')])),
    );
    for (const name of MODULES) {
      const file = join(tree, `lib/modules/6.1-tiny/kernel/drivers/${name}.ko`);
      await mkdir(join(file, '..'), { recursive: true });
      await writeFile(file, name);
    }
    execFileSync('dpkg-deb', ['-b', '-Znone', tree, join(bin, 'kernel.deb')], { stdio: 'ignore' });
    await writeFile(join(bin, 'mmdebstrap'), MMDEBSTRAP, { mode: 0o755 });
    await this.endWith('');
  }
}

import { join } from 'node:path';

/** The folder of a machine's images, a cache that all installations on it share. */
export function imagesFolder(options: {
  uid: number;
  /** Of the operating system's user. */
  home: string;
  /** `VITTO_IMAGES`: an absolute folder. */
  setting?: string | null | undefined;
  /** `XDG_CACHE_HOME` */
  cacheHome?: string | undefined;
}): string {
  if (options.setting) return options.setting;
  if (options.uid === 0) return '/var/cache/vitto/images';
  return join(options.cacheHome || join(options.home, '.cache'), 'vitto/images');
}

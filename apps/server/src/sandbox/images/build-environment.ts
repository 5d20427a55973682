/** Where programs are found, who the user is, and how this machine gets at the network. No keys, no VITTO_ settings. */
const NAMES = new Set(['PATH', 'HOME', 'LANG', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR']);
const NETWORK = /^((https?|no|all)_proxy|npm_config_(registry|cafile|proxy|https_proxy))$/i;
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * What the programs of a build get of an environment. Folders that users' PATHs often lack are added, for that is
 * where mke2fs lies; texts are in English, for they are read here.
 */
export function pickBuildEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  const kept = Object.entries(environment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && (NAMES.has(entry[0]) || NETWORK.test(entry[0])),
  );
  const path = [environment['PATH'], SYSTEM_PATH].filter(Boolean).join(':');
  return { ...Object.fromEntries(kept), PATH: path, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' };
}

/** Fills the manifest by which krew installs `kubectl parley`: pure. */
import { parse, stringify } from 'yaml';

import { type Archive, archiveName } from './archive.ts';

interface Manifest {
  readonly spec: object;
}

/**
 * @param options.template content of krew.yaml
 * @param options.baseUrl address of the folder in which the archives are
 */
export function krewManifest(options: {
  readonly template: string;
  readonly version: string;
  readonly baseUrl: string;
  readonly homepage: string;
  readonly archives: readonly Archive[];
}): string {
  const { template, version, baseUrl, homepage, archives } = options;
  const { spec, ...rest } = parse(template.replaceAll('${VERSION}', version).replaceAll('${HOMEPAGE}', homepage)) as Manifest;
  const platforms = archives.map(({ name, platform, sha256 }) => ({
    selector: { matchLabels: { os: platform.os, arch: platform.cpu === 'x64' ? 'amd64' : platform.cpu } },
    uri: `${baseUrl.replace(/\/+$/, '')}/${name}`,
    sha256,
    files: [{ from: `${archiveName(version, platform)}/*`, to: '.' }],
    bin: 'bin/kubectl-parley',
  }));
  return stringify({ ...rest, spec: { ...spec, platforms } }, { lineWidth: 0 });
}

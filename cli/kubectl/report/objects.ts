/** Reduces objects of Kubernetes to what goes into a report: their structure and state. Every freely chosen value is masked. */
import type { KubeObject } from '../../../kube/index.ts';
import { configEntries } from '../../../platform/config/config.ts';
import { parseJson } from '../../../platform/json.ts';
import { MASK } from '../../../platform/masking.ts';
import { SECRET_WORDS } from '../../../platform/secret-keys.ts';
import { ADDRESS_PATTERN, maskAddress } from './address.ts';
import type { Redactor } from './redactor.ts';

type Tree = Readonly<Record<string, unknown>>;

const knownAnnotations: ReadonlySet<string> = new Set([
  'deployment.kubernetes.io/revision',
  'kubectl.kubernetes.io/restartedAt',
  'helm.sh/hook',
  'helm.sh/hook-weight',
  'helm.sh/hook-delete-policy',
  'helm.sh/resource-policy',
  'meta.helm.sh/release-name',
  'meta.helm.sh/release-namespace',
  'parley.dev/reconcile-requested-at',
]);
const KNOWN_LABELS =
  /^(app\.kubernetes\.io\/.*|helm\.sh\/chart|kubernetes\.io\/.*|parley\.dev\/.*|pod-template-hash|batch\.kubernetes\.io\/.*|job-name|controller-uid|name|owner|status|version|modifiedAt)$/;

/** Texts of members with these names are masked whatever they look like. */
const SECRET_MEMBER = new RegExp(`${SECRET_WORDS}|prompt|transcript|utterance|dynamic_?data`, 'i');

/** Parley's settings that are no secrets, and variables that every container has. */
const plainVariables: ReadonlySet<string> = new Set([
  ...configEntries().flatMap(({ name, secret }) => (secret || SECRET_MEMBER.test(name) ? [] : [name])),
  'HOME',
  'NODE_ENV',
  'PARLEY_IDENTITY',
]);

/** Names like these say where a secret is, or which. */
const NAMES_ONLY =
  /^(key|keyId|keyID)$|(SecretRef|SecretKeyRef|secretRef|secretKeyRef|secretName|secrets|Secrets|automountServiceAccountToken|serviceAccountToken|imagePullSecrets)$/;
/** Members in which roles would log what people or models have said. */
const PRIVATE_MEMBER = /^(body|content|said|text|arguments|args|answer|input|output|headers)$/;

export function maskMetadata(metadata: KubeObject['metadata'], redactor: Redactor): Tree {
  const { name, namespace, uid, generation, creationTimestamp, deletionTimestamp, finalizers, ownerReferences, labels, annotations } =
    metadata;
  return {
    name,
    namespace,
    uid,
    generation,
    creationTimestamp,
    deletionTimestamp,
    finalizers,
    ownerReferences: ownerReferences?.map(({ kind, name: owner, uid: ownerUid }) => ({ kind, name: owner, uid: ownerUid })),
    labels: labels && map(labels, (key, value) => (KNOWN_LABELS.test(key) ? redactor.text(value) : redactor.unknown(value))),
    annotations:
      annotations && map(annotations, (key, value) => (knownAnnotations.has(key) ? redactor.text(value) : redactor.unknown(value))),
  };
}

/** Masks `spec` and `status` of any object but Parley's own and Secrets, with pod templates reduced to non-secret parts. */
export function maskObject(object: KubeObject, redactor: Redactor): Tree {
  const { apiVersion, kind, metadata, spec, status } = object as KubeObject & { readonly spec?: Tree; readonly status?: Tree };
  const isPod = kind === 'Pod';
  return {
    apiVersion,
    kind,
    metadata: maskMetadata(metadata, redactor),
    spec: spec && (isPod ? maskPodSpec(spec, redactor) : maskTemplated(spec, redactor)),
    status: status && maskTree(status, redactor),
  };
}

function maskTemplated(spec: Tree, redactor: Redactor): Tree {
  const { template, ...rest } = spec as { readonly template?: { readonly metadata?: KubeObject['metadata']; readonly spec?: Tree } };
  return {
    ...(maskTree(rest, redactor) as Tree),
    ...(template !== undefined && {
      template: {
        metadata: template.metadata && maskMetadata(template.metadata, redactor),
        spec: template.spec && maskPodSpec(template.spec, redactor),
      },
    }),
  };
}

interface ContainerSpec {
  readonly name: string;
  readonly image?: string;
  readonly command?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string; readonly valueFrom?: Tree }[];
  readonly [member: string]: unknown;
}

/** Everything of a container that isn't named here is left out. */
const containerMembers = ['envFrom', 'ports', 'resources', 'securityContext', 'volumeMounts', 'imagePullPolicy', 'restartPolicy'] as const;
const podMembers = [
  'serviceAccountName',
  'automountServiceAccountToken',
  'terminationGracePeriodSeconds',
  'priorityClassName',
  'restartPolicy',
  'nodeName',
  'nodeSelector',
  'tolerations',
  'securityContext',
  'topologySpreadConstraints',
  'imagePullSecrets',
  'hostNetwork',
] as const;

function maskPodSpec(spec: Tree, redactor: Redactor): Tree {
  const containers = (member: string): readonly Tree[] | undefined =>
    (spec[member] as readonly ContainerSpec[] | undefined)?.map((container) => maskContainer(container, redactor));
  return {
    ...pick(spec, podMembers, redactor),
    initContainers: containers('initContainers'),
    containers: containers('containers'),
    volumes: (spec['volumes'] as readonly Tree[] | undefined)?.map((volume) => maskVolume(volume)),
  };
}

function maskContainer({ name, image, command, args, env, ...rest }: ContainerSpec, redactor: Redactor): Tree {
  return {
    name,
    image: image && redactor.text(image),
    command: command?.map((word) => redactor.unknown(word)),
    // The role itself is an argument; a secret may be part of any other.
    args: args?.map((word) => (word === name ? word : redactor.unknown(word))),
    env: env?.map((variable) => maskVariable(variable, redactor)),
    ...pick(rest, containerMembers, redactor),
  };
}

function maskVariable(
  { name, value, valueFrom }: { readonly name: string; readonly value?: string; readonly valueFrom?: Tree },
  redactor: Redactor,
): Tree {
  if (value === undefined) return { name, valueFrom };
  if (plainVariables.has(name)) return { name, value: maskSetting(value, redactor) };
  return { name, value: SECRET_MEMBER.test(name) ? redactor.secret(value) : redactor.unknown(value) };
}

/** A setting that is no secret may have one in it: an address with a password, a list of profiles with headers. */
function maskSetting(value: string, redactor: Redactor): string {
  if (/^[[{]/.test(value.trim())) {
    const setting = parseJson(value);
    return setting === undefined ? redactor.unknown(value) : JSON.stringify(maskTree(setting, redactor));
  }
  return ADDRESS_PATTERN.test(value) ? maskAddress(value, redactor) : redactor.text(value);
}

/** Keeps the name, the kind, and what it refers to by name; never what is written into it. */
function maskVolume({ name, ...source }: Tree): Tree {
  const [kind = '', value] = Object.entries(source)[0] ?? [];
  const { secretName, name: object, claimName, sizeLimit, medium } = (value ?? {}) as Tree;
  return { name, [kind]: { secretName, name: object, claimName, sizeLimit, medium } };
}

function pick(tree: Tree, members: readonly string[], redactor: Redactor): Tree {
  return Object.fromEntries(members.flatMap((member) => (tree[member] === undefined ? [] : [[member, maskTree(tree[member], redactor)]])));
}

/** Masks any JSON: texts lose what looks secret, and everything below a name that says it is secret. */
export function maskTree(value: unknown, redactor: Redactor): unknown {
  // Addresses of other schemes stay: `docker-pullable://` and a digest name an image.
  if (typeof value === 'string') return /^(https?|wss?):\/\/\S+$/i.test(value) ? maskAddress(value, redactor) : redactor.text(value);
  if (Array.isArray(value)) return value.map((item) => maskTree(item, redactor));
  if (typeof value !== 'object' || value === null) return value;
  return map(value as Tree, (name, member) => {
    if (NAMES_ONLY.test(name)) return maskTree(member, redactor);
    if (SECRET_MEMBER.test(name)) return maskAll(member, redactor);
    return PRIVATE_MEMBER.test(name) && typeof member === 'string' ? redactor.hidden(member) : maskTree(member, redactor);
  });
}

export function maskAll(value: unknown, redactor: Redactor): unknown {
  if (typeof value === 'string') return redactor.secret(value);
  if (Array.isArray(value)) return value.map((item) => maskAll(item, redactor));
  if (typeof value === 'object' && value !== null) return map(value as Tree, (_, member) => maskAll(member, redactor));
  return typeof value === 'number' ? MASK : value;
}

function map<T>(tree: Readonly<Record<string, T>>, change: (name: string, value: T) => unknown): Tree {
  return Object.fromEntries(Object.entries(tree).map(([name, value]) => [name, change(name, value)]));
}

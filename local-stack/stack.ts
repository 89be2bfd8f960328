/** Puts together the components of a stack, and what each needs of the others. A new one is its file in components/ and its entry here. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { MEDIA_EVENTS_PATH } from '../api/media-events/routes.ts';
import { type StackEnv, STACK_VARIABLES } from './env-file.ts';
import type { Layout } from './layout.ts';
import { ensureCredentials, type UserKey, USERS, writeKubeconfig } from './components/credentials.ts';
import { devProviders, devSpeechComponent, devSpeechUrl } from './components/dev-speech.ts';
import { etcdComponent } from './components/etcd.ts';
import { ensureMutualTls, ensureSecret } from './components/secrets.ts';
import { apiserverCa, kubeApiserverComponent } from './components/kube-apiserver.ts';
import { kubeControllerManagerComponent } from './components/kube-controller-manager.ts';
import { livekitSipComponent } from './components/livekit-sip.ts';
import { livekitAddress, livekitComponent } from './components/livekit.ts';
import { postgresComponent, postgresUrl } from './components/postgres.ts';
import { postgresInstallation } from './components/postgres-installation.ts';
import { exampleOrdersHost } from './speech/example-orders.ts';
import { receiverHost, receiverComponent, receiverUrl } from './components/receiver.ts';
import { redisAddress, redisComponent } from './components/redis.ts';
import type { RoleName } from '../platform/role-names.ts';
import { roleComponent } from './components/role.ts';
import { guardedTemporalComponent } from './components/temporal.ts';
import type { BinaryName } from './programs.ts';
import { type PortName, PORT_NAMES, type Ports } from './settings.ts';
import type { Component } from './supervisor.ts';
import { UI_USER } from './components/temporal-proxies.ts';

export interface StackOptions {
  readonly layout: Layout;
  readonly ports: Ports;
  readonly org: string;
  readonly binary: (name: BinaryName) => string;
  /** Path of Redis; a stack where it is not available starts without it, and phone numbers are connected to nothing. */
  readonly redisBinary?: string | undefined;
  /** Path of LiveKit's SIP service, which runs only where the person has the program. */
  readonly sipBinary?: string | undefined;
  /** Address of the person's own Postgres; without one the stack runs its own. */
  readonly databaseUrl?: string | undefined;
  /** Flags of `unshare` that give Temporal a network of its own, where the system can. */
  readonly isolation?: readonly string[] | undefined;
  readonly env: NodeJS.ProcessEnv;
  /** Runs `parley <role>`. */
  readonly parley: readonly [file: string, ...args: string[]];
  /** Steps between the start of the servers and that of the roles. */
  readonly installDefinitions: (signal: AbortSignal) => Promise<void>;
  readonly migrate: (databaseUrl: string, signal: AbortSignal) => Promise<void>;
  /** Receives each line that the receiver of deliveries prints. */
  readonly onDelivery?: (line: string) => void;
}

export interface Stack {
  readonly components: readonly Component[];
  readonly databaseUrl: string;
  readonly storageUrl: string;
  readonly mediaServerUrl: string;
  /** `host:port` of the SIP service, where there is one. */
  readonly sipAddress?: string;
  readonly speechUrl: string;
  readonly receiverUrl: string;
  readonly metricsToken: string;
  readonly temporal: Pick<StackEnv, `TEMPORAL_${string}` & keyof StackEnv>;
}

/** Lists the binaries that a stack needs; Postgres only where the person has not named a server. */
export function binariesOf(databaseUrl: string | undefined): readonly BinaryName[] {
  const always = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl', 'temporal', 'livekit-server', 'redis-server'] as const;
  return databaseUrl === undefined ? [...always, 'postgres'] : always;
}

export function describeStack(options: StackOptions): Stack {
  const parts = prepareParts(options);
  const { databaseUrl, storageUrl, speechUrl, mediaServer, telephones, tokens, temporal } = parts;
  const { ports } = options;
  return {
    components: [...describeServers(options, parts), ...describeRoles(options, parts), describeReceiver(options, parts)],
    databaseUrl,
    storageUrl,
    mediaServerUrl: mediaServer.url,
    ...(telephones && { sipAddress: telephones.address }),
    speechUrl,
    receiverUrl: receiverUrl(ports.receiver, tokens.receiver),
    metricsToken: tokens.metrics,
    temporal: { ...temporal, TEMPORAL_UI: `http://${UI_USER}:${tokens.temporalUi}@127.0.0.1:${ports['temporal-ui']}` },
  };
}

type Parts = ReturnType<typeof prepareParts>;

/** Prepares addresses and credentials that several components share; missing credentials are made. */
function prepareParts({ layout, ports, binary, ...options }: StackOptions) {
  const tokenOf = (name: string): string => ensureSecret(layout.secrets, `${name}-token`);
  const tokens = {
    receiver: tokenOf('receiver'),
    speech: tokenOf('dev-speech'),
    metrics: tokenOf('metrics'),
    temporalUi: tokenOf('temporal-ui'),
  };
  const ownPostgres =
    options.databaseUrl === undefined
      ? {
          installation: postgresInstallation({ stateDir: layout.data, binary: binary('postgres') }),
          port: ports.postgres,
          passwordFile: join(layout.secrets, 'postgres-password'),
        }
      : undefined;
  const temporalTls = ensureMutualTls(layout.secrets, 'temporal');
  const redis = options.redisBinary === undefined ? undefined : { binary: options.redisBinary, port: ports.redis, folder: layout.secrets };
  const mediaServer = livekitAddress({ folder: layout.secrets, port: ports.livekit });
  return {
    credentials: ensureCredentials(layout.secrets),
    tokens,
    ownPostgres,
    databaseUrl: options.databaseUrl ?? postgresUrl(ownPostgres!),
    storageUrl: storageOf(options.env['STORAGE_URL']) ?? pathToFileURL(join(layout.data, 'files')).href,
    speechUrl: devSpeechUrl(ports['dev-speech'], tokens.speech),
    etcd: { port: ports.etcd, tls: ensureMutualTls(layout.secrets, 'etcd') },
    temporalTls,
    temporal: {
      TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
      TEMPORAL_TLS_CLIENT_CERT_PATH: temporalTls.client.cert,
      TEMPORAL_TLS_CLIENT_KEY_PATH: temporalTls.client.key,
      TEMPORAL_TLS_SERVER_CA_CERT_PATH: temporalTls.server.cert,
      TEMPORAL_TLS_SERVER_NAME: 'localhost',
    },
    redis,
    mediaServer,
    telephones:
      redis === undefined || options.sipBinary === undefined
        ? undefined
        : {
            component: livekitSipComponent({
              binary: options.sipBinary,
              folder: layout.secrets,
              mediaServer,
              redis: redisAddress(redis),
              port: ports['livekit-sip'],
              rtpPort: ports['livekit-sip-sound'],
            }),
            address: `127.0.0.1:${ports['livekit-sip']}`,
          },
  };
}

const kubeconfigOf = ({ kubeconfig, secrets }: Layout, user: UserKey): string =>
  user === 'admin' ? kubeconfig : join(secrets, `${user}.kubeconfig`);

function describeServers(options: StackOptions, parts: Parts): readonly Component[] {
  const { layout, ports, binary } = options;
  const { credentials, etcd, redis, telephones } = parts;
  return [
    etcdComponent({ binary: binary('etcd'), dataDir: join(layout.data, 'etcd'), ...etcd, peerPort: ports['etcd-peer'] }),
    kubeApiserverComponent({
      binary: binary('kube-apiserver'),
      credentials,
      etcd,
      port: ports['kube-apiserver'],
      afterReady: async (signal) => {
        writeKubeconfigs(options, parts);
        await options.installDefinitions(signal);
      },
    }),
    kubeControllerManagerComponent({
      binary: binary('kube-controller-manager'),
      kubeconfig: kubeconfigOf(layout, 'controllerManager'),
      port: ports['kube-controller-manager'],
    }),
    guardedTemporalComponent({
      binary: binary('temporal'),
      databaseFile: join(layout.data, 'temporal.db'),
      port: ports.temporal,
      uiPort: ports['temporal-ui'],
      inner: { port: ports['temporal-server'], uiPort: ports['temporal-server-ui'] },
      tls: parts.temporalTls,
      uiPassword: parts.tokens.temporalUi,
      parley: options.parley,
      runDir: layout.run,
      isolation: options.isolation,
    }),
    ...(redis === undefined ? [] : [redisComponent(redis)]),
    livekitComponent({
      binary: binary('livekit-server'),
      folder: layout.secrets,
      port: ports.livekit,
      udpPort: ports['livekit-udp'],
      ...(redis && { redis: redisAddress(redis) }),
      eventUrls: [`http://127.0.0.1:${ports.api}${MEDIA_EVENTS_PATH}`],
      roomsByJoining: telephones !== undefined,
    }),
    ...(telephones === undefined ? [] : [telephones.component]),
    ...(parts.ownPostgres === undefined ? [] : [migratedPostgres(options, postgresComponent(parts.ownPostgres), parts.databaseUrl)]),
    devSpeechComponent({
      command: options.parley,
      port: ports['dev-speech'],
      token: parts.tokens.speech,
      env: withoutStackVariables(options.env),
    }),
  ];
}

function writeKubeconfigs({ layout, ports, org }: StackOptions, { credentials }: Parts): void {
  const ca = apiserverCa(credentials);
  for (const user of Object.keys(USERS) as UserKey[]) {
    writeKubeconfig({
      file: kubeconfigOf(layout, user),
      server: `https://127.0.0.1:${ports['kube-apiserver']}`,
      ca,
      user: USERS[user].name,
      token: credentials.tokens[user],
      ...(user === 'admin' ? { namespace: org } : {}),
    });
  }
}

function migratedPostgres({ migrate }: StackOptions, component: Component, databaseUrl: string): Component {
  return {
    ...component,
    afterReady: async (signal) => {
      await component.afterReady?.(signal);
      await migrate(databaseUrl, signal);
    },
  };
}

function describeRoles(options: StackOptions, parts: Parts): readonly Component[] {
  const database = parts.ownPostgres === undefined ? [] : ['postgres'];
  const role = (name: RoleName, ...dependsOn: readonly string[]): Component =>
    roleComponent({
      role: name,
      dependsOn: [...dependsOn, ...database],
      command: options.parley,
      port: options.ports[name],
      env: roleEnv(name, options, parts),
    });
  return [
    role('operator', 'kube-apiserver'),
    role('api', 'kube-apiserver'),
    role('worker', 'kube-apiserver', 'temporal'),
    role('dispatcher', 'kube-apiserver', 'temporal'),
    role('voice', 'livekit', 'kube-apiserver'),
  ];
}

/** Returns the networks that users' addresses may be in, although they are not public. */
export const allowedNetworks = (env: Readonly<Record<string, string | undefined>>): string =>
  env['PARLEY_EGRESS_ALLOW_CIDRS'] || '127.0.0.0/8,::1/128';

function roleEnv(role: RoleName, options: StackOptions, parts: Parts): NodeJS.ProcessEnv {
  const { env, layout, ports } = options;
  return {
    ...withoutStackVariables(env),
    DATABASE_URL: parts.databaseUrl,
    STORAGE_URL: parts.storageUrl,
    // On one's own machine the other side of a webhook, a tool or a website is on this machine, too.
    PARLEY_EGRESS_ALLOW_CIDRS: allowedNetworks(env),
    // The servers of the stack stay forbidden: a tool must not read every Secret in etcd.
    PARLEY_EGRESS_DENY_PORTS: [...asList(env['PARLEY_EGRESS_DENY_PORTS']), ...ownPorts(options, parts.databaseUrl)].join(','),
    PARLEY_EGRESS_HOSTS: [...asList(env['PARLEY_EGRESS_HOSTS']), receiverHost(ports.receiver), exampleOrdersHost(ports['dev-speech'])].join(
      ',',
    ),
    ...parts.temporal,
    PARLEY_METRICS_TOKEN: parts.tokens.metrics,
    PARLEY_HOST: '127.0.0.1',
    PARLEY_API_PORT: String(ports.api),
    PARLEY_PUBLIC_URL: env['PARLEY_PUBLIC_URL'] || `http://127.0.0.1:${ports.api}`,
    PARLEY_CALL_PAGE: env['PARLEY_CALL_PAGE'] || 'true',
    PARLEY_OPERATOR_PORT: String(ports.operator),
    PARLEY_WORKER_PORT: String(ports.worker),
    PARLEY_DISPATCHER_PORT: String(ports.dispatcher),
    // There is a single operator: waiting for the Lease of one that was killed would only cost time.
    PARLEY_LEADER_ELECTION: 'false',
    PARLEY_VOICE_PORT: String(ports.voice),
    PARLEY_VOICE_SPOOL: env['PARLEY_VOICE_SPOOL'] || join(layout.data, 'spool'),
    KUBECONFIG: kubeconfigOf(layout, role),
    PARLEY_PROVIDERS: devProviders(parts.speechUrl, env['PARLEY_PROVIDERS']),
    LIVEKIT_URL: parts.mediaServer.url,
    LIVEKIT_API_KEY: parts.mediaServer.apiKey,
    LIVEKIT_API_SECRET: parts.mediaServer.apiSecret,
  };
}

function describeReceiver({ layout, ports, env, parley, onDelivery }: StackOptions, { tokens }: Parts): Component {
  return receiverComponent({
    command: parley,
    port: ports.receiver,
    token: tokens.receiver,
    env: { ...withoutStackVariables(env), KUBECONFIG: kubeconfigOf(layout, 'admin') },
    onDelivery,
  });
}

/** Users may call servers whose address contains the credentials: deliveries and speech are what those are for. */
const CALLABLE: ReadonlySet<PortName> = new Set(['receiver', 'dev-speech']);
/** Temporal's server chooses some ports itself, among those that systems give to outgoing connections. */
const GIVEN_AWAY = '32768-65535';

/** Lists the ports of this machine that no address of a user may call. */
function ownPorts({ ports, env, isolation }: StackOptions, databaseUrl: string): readonly string[] {
  const persons = [databaseUrl, env['VECTOR_STORE_URL']].flatMap((url) => URL.parse(url ?? '')?.port || []);
  return [
    ...PORT_NAMES.filter((name) => !CALLABLE.has(name)).map((name) => String(ports[name])),
    ...persons,
    ...(isolation === undefined ? [GIVEN_AWAY] : []),
  ];
}

/** Returns the address of the bucket that the person has named. A folder may be that of another stack. */
function storageOf(url: string | undefined): string | undefined {
  return url?.startsWith('s3://') === true ? url : undefined;
}

const asList = (text: string | undefined): readonly string[] => (text === undefined || text.trim() === '' ? [] : [text]);

/** These variables belong to the address of a media server, and are not in the environment of shells. */
const MEDIA_SERVER_VARIABLES = ['LIVEKIT_PUBLIC_URL', 'LIVEKIT_API_KEY', 'LIVEKIT_API_SECRET'] as const;

/** Drops the stack's variables: a shell that is ready for one stack (`parley env`) may well start another. */
function withoutStackVariables(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const names = new Set<string>([...STACK_VARIABLES, ...MEDIA_SERVER_VARIABLES]);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

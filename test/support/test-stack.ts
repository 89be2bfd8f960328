/**
 * Runs the real servers behind the integration tests: an API server with its etcd and controllers, Postgres, Temporal. Each is started
 * when it is first asked for, once, and all are stopped together.
 */
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { kubectlWith } from '../../local-stack/manifests.ts';
import { installDefinitions } from '../../local-stack/manifests.ts';
import { ensureCredentials, type UserKey, USERS, writeKubeconfig } from '../../local-stack/components/credentials.ts';
import { etcdComponent } from '../../local-stack/components/etcd.ts';
import { ensureMutualTls } from '../../local-stack/components/secrets.ts';
import { apiserverCa, kubeApiserverComponent } from '../../local-stack/components/kube-apiserver.ts';
import { kubeControllerManagerComponent } from '../../local-stack/components/kube-controller-manager.ts';
import { livekitAddress, type LivekitAddress, livekitComponent } from '../../local-stack/components/livekit.ts';
import { postgresComponent, postgresUrl } from '../../local-stack/components/postgres.ts';
import { postgresInstallation, removePostgresData } from '../../local-stack/components/postgres-installation.ts';
import { redisAddress, redisComponent } from '../../local-stack/components/redis.ts';
import { temporalComponent } from '../../local-stack/components/temporal.ts';
import { freePorts } from '../../local-stack/ports.ts';
import { type Component, ComponentFailedError, Supervisor } from '../../local-stack/supervisor.ts';
import { testBinary } from './programs.ts';

export interface ControlPlaneAddresses {
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Paths of kubeconfigs of the roles' own users, with the permissions that the roles have. */
  readonly kubeconfigs: { readonly operator: string; readonly api: string; readonly worker: string; readonly dispatcher: string };
  readonly server: string;
  /** Path of kubectl. */
  readonly kubectl: string;
}

export interface TestStackAddresses {
  readonly controlPlane: ControlPlaneAddresses;
  /** The superuser's address; tests create databases of their own with it. */
  readonly databaseUrl: string;
  readonly temporalAddress: string;
  readonly mediaServer: LivekitAddress;
}

export interface TestStackOptions {
  /** Set if Postgres waits for its disk, as it does for users; default false: tests care for speed, and the machine does not crash. */
  readonly durable?: boolean;
  /** Settings of postgresql.conf. */
  readonly postgresSettings?: Readonly<Record<string, string>>;
}

export class TestStack {
  readonly #supervisors: Supervisor[] = [];
  readonly #byPart = new Map<string, Supervisor>();
  readonly #started = new Map<string, Promise<unknown>>();
  readonly #durable: boolean;
  readonly #postgresSettings: Readonly<Record<string, string>>;
  #folder: Promise<string> | undefined;

  constructor({ durable = false, postgresSettings = {} }: TestStackOptions = {}) {
    this.#durable = durable;
    this.#postgresSettings = postgresSettings;
  }

  controlPlane(): Promise<ControlPlaneAddresses> {
    return this.#once('control plane', () => this.#startControlPlane());
  }

  databaseUrl(): Promise<string> {
    return this.#once('postgres', () => this.#startPostgres());
  }

  temporalAddress(): Promise<string> {
    return this.#once('temporal', () => this.#startTemporal());
  }

  /** Returns the process id of a server that is running. One that is killed starts again by itself. */
  pid(server: 'postgres' | 'temporal' | 'kube-apiserver'): number | undefined {
    return this.#byPart.get(server)?.pid(server);
  }

  mediaServer(): Promise<LivekitAddress> {
    return this.#once('livekit', () => this.#startLivekit());
  }

  /** Stops the servers that were started and removes their data. */
  async stop(): Promise<void> {
    await Promise.allSettled(this.#started.values());
    await Promise.all(this.#supervisors.map((supervisor) => supervisor.stop()));
    if (this.#folder === undefined) return;
    const folder = await this.#folder;
    removePostgresData(folder);
    await rm(folder, { recursive: true, force: true });
  }

  #once<T>(name: string, start: () => Promise<T>): Promise<T> {
    const known = this.#started.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const started = start();
    this.#started.set(name, started);
    return started;
  }

  #workFolder(): Promise<string> {
    this.#folder ??= mkdtemp(join(tmpdir(), 'parley-test-stack-')).then(async (folder) => {
      // Postgres may run as another account, which has to be able to enter.
      await chmod(folder, 0o755);
      await mkdir(join(folder, 'kube'), { mode: 0o700 });
      return folder;
    });
    return this.#folder;
  }

  async #startControlPlane(): Promise<ControlPlaneAddresses> {
    const folder = await this.#workFolder();
    const kube = join(folder, 'kube');
    const [etcd, apiserver, controllerManager, kubectl] = await Promise.all([
      testBinary('etcd'),
      testBinary('kube-apiserver'),
      testBinary('kube-controller-manager'),
      testBinary('kubectl'),
    ]);
    const [etcdPort = 0, peerPort = 0, port = 0, managerPort = 0] = await freePorts(4);
    const credentials = ensureCredentials(join(kube, 'pki'));
    const etcdAt = { port: etcdPort, tls: ensureMutualTls(join(kube, 'pki'), 'etcd') };
    const server = `https://127.0.0.1:${port}`;
    const fileOf = (user: UserKey): string => join(kube, `${user}.kubeconfig`);
    const addresses = {
      kubeconfig: fileOf('admin'),
      kubeconfigs: { operator: fileOf('operator'), api: fileOf('api'), worker: fileOf('worker'), dispatcher: fileOf('dispatcher') },
      server,
      kubectl,
    };
    await this.#run([
      etcdComponent({ binary: etcd, dataDir: join(kube, 'etcd'), ...etcdAt, peerPort, unsafeNoFsync: true }),
      kubeApiserverComponent({
        binary: apiserver,
        credentials,
        etcd: etcdAt,
        port,
        afterReady: async () => {
          for (const user of Object.keys(USERS) as UserKey[]) {
            writeKubeconfig({
              file: fileOf(user),
              server,
              ca: apiserverCa(credentials),
              user: USERS[user].name,
              token: credentials.tokens[user],
            });
          }
          await installManifests(addresses);
        },
      }),
      kubeControllerManagerComponent({ binary: controllerManager, kubeconfig: fileOf('controllerManager'), port: managerPort }),
    ]);
    return addresses;
  }

  async #startPostgres(): Promise<string> {
    const folder = await this.#workFolder();
    const [port = 0] = await freePorts(1);
    const options = {
      installation: postgresInstallation({ stateDir: folder, binary: await testBinary('postgres') }),
      port,
      passwordFile: join(folder, 'kube', 'postgres-password'),
      unsafeNoFsync: !this.#durable,
      settings: this.#postgresSettings,
    };
    await this.#run([postgresComponent(options)]);
    return postgresUrl(options);
  }

  async #startTemporal(): Promise<string> {
    const folder = await this.#workFolder();
    const [port = 0] = await freePorts(1);
    await this.#run([temporalComponent({ binary: await testBinary('temporal'), databaseFile: join(folder, 'temporal.db'), port })]);
    return `127.0.0.1:${port}`;
  }

  async #startLivekit(): Promise<LivekitAddress> {
    const folder = join(await this.#workFolder(), 'kube');
    const [port = 0, udpPort = 0, redisPort = 0] = await freePorts(3);
    const redis = { binary: await testBinary('redis-server'), port: redisPort, folder };
    const livekit = { binary: await testBinary('livekit-server'), folder, port, udpPort, redis: redisAddress(redis) };
    await this.#run([redisComponent(redis), livekitComponent(livekit)]);
    return livekitAddress({ folder, port });
  }

  async #run(components: readonly Component[]): Promise<void> {
    const folder = await this.#workFolder();
    const supervisor = new Supervisor({ components, logDir: join(folder, 'logs'), runDir: join(folder, 'run') });
    this.#supervisors.push(supervisor);
    for (const { name } of components) this.#byPart.set(name, supervisor);
    try {
      await supervisor.start();
    } catch (error) {
      if (error instanceof ComponentFailedError) error.message += `\n${error.logTail.join('\n')}`;
      throw error;
    }
  }
}

/** Applies the resource definitions and the roles' permissions of this checkout. */
export async function installManifests(controlPlane: ControlPlaneAddresses): Promise<void> {
  await installDefinitions(
    kubectlWith({ binary: controlPlane.kubectl, kubeconfig: controlPlane.kubeconfig }),
    AbortSignal.timeout(600_000),
  );
}

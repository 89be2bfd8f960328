import { readFileSync, renameSync, writeFileSync } from 'node:fs';

import { freePorts, portIsFree } from './ports.ts';
import { UserError } from '../platform/user-error.ts';

export const PORT_NAMES = [
  'api',
  'operator',
  'worker',
  'dispatcher',
  'voice',
  'kube-apiserver',
  'kube-controller-manager',
  'etcd',
  'etcd-peer',
  'postgres',
  'temporal',
  'temporal-ui',
  'temporal-server',
  'temporal-server-ui',
  'receiver',
  'livekit',
  'livekit-udp',
  'redis',
  'livekit-sip',
  'livekit-sip-sound',
  'dev-speech',
] as const;

export type PortName = (typeof PORT_NAMES)[number];
export type Ports = Readonly<Record<PortName, number>>;

/** Settings that a stack remembers from one start to the next. */
export interface Settings {
  readonly ports?: Partial<Ports>;
  readonly org?: string;
  /** SHA-256 of the examples that were applied; they are applied once, then they belong to the person. */
  readonly examples?: string;
  /** SHA-256 of the example documents that were uploaded, likewise once. */
  readonly documents?: string;
  /** Organisation whose example agent was called. */
  readonly calledIn?: string;
}

export function readSettings(file: string): Settings {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Settings;
  } catch {
    return {};
  }
}

export function writeSettings(file: string, settings: Settings): void {
  writeFileSync(`${file}.new`, `${JSON.stringify(settings, null, 2)}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

/** Names the flag or variable that chooses a port: `wantedPorts` of `parley dev` reads it. */
function settingOf(name: PortName): string {
  if (name === 'kube-apiserver') return '--kube-port';
  return ['operator', 'worker', 'dispatcher', 'voice'].includes(name) ? `PARLEY_${name.toUpperCase()}_PORT` : `--${name}-port`;
}

/**
 * Chooses a port for each component: the one asked for, else the one of the last start (so that kubeconfigs stay valid), else a free one.
 *
 * @throws UserError when a port that was asked for is taken.
 */
export async function choosePorts(options: { readonly wanted: Partial<Ports>; readonly remembered: Partial<Ports> }): Promise<Ports> {
  const chosen: Partial<Record<PortName, number>> = {};
  const taken = new Set<number>();
  for (const name of PORT_NAMES) {
    const wanted = options.wanted[name];
    if (wanted === undefined || wanted === 0) continue;
    if (!(await portIsFree(wanted)) || taken.has(wanted)) {
      throw new UserError(`port ${wanted}, asked for ${name}, is taken`, {
        cure: `choose another one with ${settingOf(name)}, or leave it out: a free one is found then`,
      });
    }
    chosen[name] = wanted;
    taken.add(wanted);
  }
  for (const name of PORT_NAMES) {
    const remembered = options.remembered[name];
    if (chosen[name] !== undefined || remembered === undefined || taken.has(remembered) || !(await portIsFree(remembered))) continue;
    chosen[name] = remembered;
    taken.add(remembered);
  }
  const missing = PORT_NAMES.filter((name) => chosen[name] === undefined);
  const free = await freePorts(missing.length + taken.size);
  const usable = free.filter((port) => !taken.has(port));
  missing.forEach((name, index) => (chosen[name] = usable[index]!));
  return chosen as Ports;
}

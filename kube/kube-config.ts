import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';

import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';

import { ConfigError, type Config } from '../platform/config/config.ts';
import { KubeError } from './error.ts';

export type { KubeConfig } from '@kubernetes/client-node';

export interface LoadKubeConfigOptions {
  /** A kubeconfig file. Default: `KUBECONFIG`, then `~/.kube/config`, then the pod's service account. */
  readonly path?: string;
  /** One of its contexts. Default: its current one. */
  readonly context?: string;
}

/** Address that client-node takes where it finds no configuration. */
const NOTHING_FOUND = 'http://localhost:8080';

/**
 * Finds out where the API server is and who we are.
 * Users with a `tokenFile` (which client-node 2.0.1 drops) have that file read again as it changes.
 *
 * @throws KubeError with reason `BadKubeConfig` when the file can't be read or names no cluster.
 */
export function loadKubeConfig(options: LoadKubeConfigOptions = {}): KubeConfig {
  const config = new KubeConfig();
  try {
    if (options.path === undefined) config.loadFromDefault();
    else config.loadFromFile(options.path);
    for (const file of options.path === undefined ? defaultFiles() : [options.path]) addTokenFiles(config, file);
  } catch (cause) {
    const where = options.path ?? process.env['KUBECONFIG'] ?? 'the default kubeconfig';
    throw new KubeError({ code: 0, reason: 'BadKubeConfig', message: `${where} can't be used: ${(cause as Error).message}`, cause });
  }
  if (options.context !== undefined) useContext(config, options.context);
  const cluster = config.getCurrentCluster();
  if (options.path === undefined && cluster?.server === NOTHING_FOUND && !defaultFiles().some((file) => existsSync(file))) {
    throw new KubeError({
      code: 0,
      reason: 'BadKubeConfig',
      message: `there is no kubeconfig: neither KUBECONFIG nor ${defaultFiles().join()}`,
    });
  }
  if (cluster === null) {
    const where = options.path ?? process.env['KUBECONFIG'] ?? 'the default kubeconfig';
    throw new KubeError({
      code: 0,
      reason: 'BadKubeConfig',
      message: `${where} names no cluster for its current context; set current-context to one of its contexts`,
    });
  }
  return config;
}

/**
 * Finds the API server that a role's configuration names: by the file of KUBECONFIG, or the service account of the pod.
 *
 * @throws ConfigError for a missing or unusable one
 */
export function kubeConfigOf({ KUBECONFIG: path }: Pick<Config, 'KUBECONFIG'>): KubeConfig {
  try {
    return loadKubeConfig(path === undefined ? {} : { path });
  } catch (error) {
    if (!(error instanceof KubeError)) throw error;
    throw new ConfigError(`KUBECONFIG: ${error.message}`, { cause: error });
  }
}

function useContext(config: KubeConfig, name: string): void {
  if (config.getContextObject(name) === null) {
    const there = config.getContexts().map((context) => context.name);
    throw new KubeError({
      code: 0,
      reason: 'BadKubeConfig',
      message: `the kubeconfig has no context "${name}"; ${there.length === 0 ? 'it has none at all' : `it has: ${there.join(', ')}`}`,
    });
  }
  config.setCurrentContext(name);
}

function defaultFiles(): readonly string[] {
  const named = process.env['KUBECONFIG']?.split(delimiter).filter((file) => file !== '') ?? [];
  return named.length > 0 ? named : [join(homedir(), '.kube', 'config')];
}

interface RawKubeConfig {
  readonly users?: readonly { readonly name: string; readonly user?: { readonly tokenFile?: string } }[];
}

function addTokenFiles(config: KubeConfig, file: string): void {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return; // in a pod there is no kubeconfig; client-node has complained about any other absence
  }
  for (const { name, user } of (parse(text) as RawKubeConfig).users ?? []) {
    if (user?.tokenFile === undefined) continue;
    const tokenFile = resolve(dirname(file), user.tokenFile);
    config.users = config.users.map((each) =>
      each.name === name && each.token === undefined ? { ...each, authProvider: { name: 'tokenFile', config: { tokenFile } } } : each,
    );
  }
}

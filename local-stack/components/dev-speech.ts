import { llmProviders, speechProviders } from '../../crds/providers.ts';
import type { Component } from '../supervisor.ts';
import { isOk } from './probes.ts';

export interface DevSpeechOptions {
  /** Runs the `parley` command. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  /** Component of the server's address; without one it answers every process of this machine. */
  readonly token?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The first start takes up to this many milliseconds, because it downloads the voice and the recogniser. */
const FIRST_START_MS = 600_000;

/** Returns the address that serves OpenAI's protocol offline. */
export const devSpeechUrl = (port: number, token?: string): string =>
  `http://127.0.0.1:${port}${token === undefined ? '' : `/${token}`}/v1`;

/** Serves a robot that speaks, understands some phrases and follows rules: for agents whose providers the person has no account with. */
export function devSpeechComponent({ command: [file, ...args], port, token, env }: DevSpeechOptions): Component {
  return {
    name: 'dev-speech',
    dependsOn: [],
    command: () => ({ file, args: [...args, 'dev-speech', '--port', String(port)], env: { ...env, PARLEY_DEV_SPEECH_TOKEN: token } }),
    check: (signal) => isOk(`http://127.0.0.1:${port}/healthz`, signal),
    readyTimeoutMs: FIRST_START_MS,
    stopTimeoutMs: 5_000,
  };
}

/**
 * Returns PARLEY_PROVIDERS for the stack's roles: what the person has set stays, every other provider is dev-speech.
 * @param url the address of dev-speech
 * @param own the person's own value; one that can't be parsed is passed on, and the roles report it
 */
export function devProviders(url: string, own: string | undefined): string {
  let set: unknown;
  try {
    set = own === undefined || own.trim() === '' ? [] : JSON.parse(own);
  } catch {
    set = undefined;
  }
  if (!Array.isArray(set)) return own ?? '';
  const names = new Set(set.map((entry: { readonly name?: unknown } | null) => entry?.name));
  const missing = [...new Set<string>([...llmProviders, ...speechProviders])].filter((name) => !names.has(name));
  return JSON.stringify([...(set as readonly unknown[]), ...missing.map((name) => ({ name, baseURL: url }))]);
}

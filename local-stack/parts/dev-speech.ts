import { llmProviders, speechProviders } from '../../crds/limits.ts';
import type { Part } from '../supervisor.ts';
import { httpCheck } from './http-check.ts';

export interface DevSpeechOptions {
  /** How to run the `parley` command. */
  readonly command: readonly [file: string, ...args: string[]];
  readonly port: number;
  /** Part of its address; without one it answers every process of this machine. */
  readonly token?: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The first start fetches its voice and its ear, in milliseconds. */
const firstStartMs = 600_000;

/** Where OpenAI's protocol is spoken offline. */
export const devSpeechUrl = (port: number, token?: string): string =>
  `http://127.0.0.1:${port}${token === undefined ? '' : `/${token}`}/v1`;

/** A robot that speaks, understands some phrases and follows rules: for agents whose providers the person has no account with. */
export function devSpeechPart({ command: [file, ...args], port, token, env }: DevSpeechOptions): Part {
  return {
    name: 'dev-speech',
    dependsOn: [],
    command: () => ({ file, args: [...args, 'dev-speech', '--port', String(port)], env: { ...env, PARLEY_DEV_SPEECH_TOKEN: token } }),
    check: async (signal) => (await httpCheck({ url: `http://127.0.0.1:${port}/healthz`, signal })).status === 200,
    readyTimeoutMs: firstStartMs,
    stopTimeoutMs: 5_000,
  };
}

/**
 * PARLEY_PROVIDERS for the stack's roles: what the person has set stays, every other provider is dev-speech.
 * @param url of dev-speech
 * @param own as the person has set it; one that can't be read is left for the roles to complain about
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

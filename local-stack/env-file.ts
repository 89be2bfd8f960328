import { chmodSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The addresses of a running stack, for scripts to read. */
export interface StackEnv {
  readonly PARLEY_URL: string;
  readonly PARLEY_ORG: string;
  readonly PARLEY_API_KEY: string;
  readonly KUBECONFIG: string;
  readonly DATABASE_URL: string;
  readonly STORAGE_URL: string;
  readonly TEMPORAL_ADDRESS: string;
  /** Paths of the certificates between Temporal and its clients, under the names that Temporal's own command reads. */
  readonly TEMPORAL_TLS_CLIENT_CERT_PATH?: string;
  readonly TEMPORAL_TLS_CLIENT_KEY_PATH?: string;
  readonly TEMPORAL_TLS_SERVER_CA_CERT_PATH?: string;
  /** Clients need a name: none checks a certificate against an address without complaint. */
  readonly TEMPORAL_TLS_SERVER_NAME?: string;
  /** Address of the web interface, with the account and the password that it asks for. */
  readonly TEMPORAL_UI?: string;
  /** Address at which the receiver on this machine shows deliveries; the path is a secret. */
  readonly PARLEY_RECEIVER: string;
  readonly LIVEKIT_URL: string;
  /** Address that telephones on this machine call, `host:port`; absent without LiveKit's SIP service. */
  readonly PARLEY_SIP?: string;
  /** Address of the stack's own speech, for callers that have a text and no voice. */
  readonly PARLEY_SPEECH_URL: string;
  /** Token that /metrics of the roles asks for. */
  readonly PARLEY_METRICS_TOKEN?: string;
  /** The page to talk to agents, with a key for that and nothing else behind its `#`. */
  readonly PARLEY_CALL_URL: string;
  /** Folder with kubectl, temporal and parley. */
  readonly PARLEY_BIN: string;
}

/** Names of the variables. They stand in an object, because the compiler then notices a missing one. */
export const STACK_VARIABLES = Object.keys({
  PARLEY_URL: true,
  PARLEY_ORG: true,
  PARLEY_API_KEY: true,
  KUBECONFIG: true,
  DATABASE_URL: true,
  STORAGE_URL: true,
  TEMPORAL_ADDRESS: true,
  TEMPORAL_TLS_CLIENT_CERT_PATH: true,
  TEMPORAL_TLS_CLIENT_KEY_PATH: true,
  TEMPORAL_TLS_SERVER_CA_CERT_PATH: true,
  TEMPORAL_TLS_SERVER_NAME: true,
  TEMPORAL_UI: true,
  PARLEY_RECEIVER: true,
  LIVEKIT_URL: true,
  PARLEY_SIP: true,
  PARLEY_SPEECH_URL: true,
  PARLEY_METRICS_TOKEN: true,
  PARLEY_CALL_URL: true,
  PARLEY_BIN: true,
} satisfies Readonly<Record<keyof StackEnv, true>>);

/** Values are quoted only where they have to be: `KEY=value` is what most readers understand. */
function line(name: string, value: string): string {
  return `${name}=${/^[\w@%+=:,./~-]+$/.test(value) ? value : `"${value.replaceAll('"', '')}"`}`;
}

/** Writes the file at once and complete, readable by its owner only. */
export function writeEnvFile(file: string, env: StackEnv): void {
  const text = Object.entries(env).map(([name, value]) => line(name, String(value)));
  writeFileSync(`${file}.new`, `${text.join('\n')}\n`, { mode: 0o600 });
  chmodSync(`${file}.new`, 0o600);
  renameSync(`${file}.new`, file);
}

export function removeEnvFile(file: string): void {
  rmSync(file, { force: true });
}

export function readEnvFile(file: string): StackEnv | undefined {
  try {
    return parseEnv(readFileSync(file, 'utf8')) as unknown as StackEnv;
  } catch {
    return undefined;
  }
}

export const shellQuoted = (value: string): string => `'${value.replaceAll("'", `'\\''`)}'`;

/** Returns lines for `eval` in a POSIX shell; the stack's own kubectl and parley come first on PATH. */
export function shellExports(env: StackEnv): string {
  const lines = Object.entries(env).map(([name, value]) => `export ${name}=${shellQuoted(String(value))}`);
  // A second run must not make PATH longer.
  const bin = shellQuoted(env.PARLEY_BIN);
  lines.push(`case ":$PATH:" in *:${bin}:*) ;; *) export PATH=${bin}:"$PATH" ;; esac`);
  return `${lines.join('\n')}\n`;
}

/**
 * Returns the Postgres that the person wants instead of the stack's own: DATABASE_URL, unless it comes from `parley env` of some local
 * stack. Its password is the sign: 36 hexadecimal digits for the user and database `parley` on loopback.
 */
export function externalDatabase(env: NodeJS.ProcessEnv): string | undefined {
  const url = env['DATABASE_URL'];
  if (url === undefined || url === '' || /^postgres:\/\/parley:[0-9a-f]{36}@127\.0\.0\.1:\d+\/parley$/.test(url)) return undefined;
  return url;
}

/** Decides which answers give nothing away: a refusal, or the word that somebody is there. */
import { execFile } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

interface Finding {
  readonly how: string;
  /** Status of an HTTP answer. */
  readonly status?: number;
  readonly body?: string;
  /** Status of a gRPC answer. */
  readonly grpc?: string;
  /** Text of an answer that is no HTTP. */
  readonly text?: string;
}

/** Asks the ports from an account without rights where this one may become it. */
export async function askAsStranger(ports: readonly number[]): Promise<{ readonly uid: number; readonly answers: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'parley-stranger-'));
  try {
    // The account may not enter the folder of the checkout, nor that of its Node.
    chmodSync(folder, 0o755);
    const [node, script] = [join(folder, 'node'), join(folder, 'probe-ports.mjs')];
    copyFileSync(process.execPath, node);
    chmodSync(node, 0o755);
    copyFileSync(fileURLToPath(new URL('probe-ports.mjs', import.meta.url)), script);
    const { stdout } = await promisify(execFile)(node, [script, ...ports.map(String)], {
      cwd: folder,
      maxBuffer: 64 * 1024 * 1024,
      ...(process.getuid?.() === 0 && { uid: 65_534, gid: 65_534 }),
    });
    const { uid, findings } = JSON.parse(stdout) as {
      readonly uid: number;
      readonly findings: readonly { readonly port: number; readonly found: readonly Finding[] }[];
    };
    return {
      uid,
      answers: findings.flatMap(({ port, found }) => found.filter(saysSomething).map((one) => `${port}: ${JSON.stringify(one)}`)),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const healthy = /^(ok|OK|\{"status":"ok"\})?\n?$/;

function saysSomething({ how, status, body = '', grpc, text }: Finding): boolean {
  if (grpc !== undefined) return grpc === '0';
  if (status !== undefined) return status < 300 ? !healthy.test(body) : status < 400;
  // Every server but these two says what it thinks of a protocol that is not its own.
  if (how.startsWith('redis')) return /^(\+|\$|\*|:)/.test(text ?? '');
  return (text ?? '').startsWith('R\0\0\0\b\0\0\0\0');
}

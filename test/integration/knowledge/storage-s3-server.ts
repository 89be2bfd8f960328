import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { eventually } from '../../support/eventually.ts';
import { freePort } from '../../support/free-port.ts';
import { testBinary } from '../../support/programs.ts';

export const credentials = { accessKeyId: 'parley-test', secretAccessKey: 'parley-test-secret' };

/** Runs a real S3 server on a port of its own, with its buckets in a temporary folder. */
export class S3Server {
  readonly port: number;
  readonly #program: string;
  readonly #folder: string;
  #child: ChildProcess | undefined;

  constructor(options: { program: string; folder: string; port: number }) {
    this.#program = options.program;
    this.#folder = options.folder;
    this.port = options.port;
  }

  static async start(): Promise<S3Server> {
    const program = await testBinary('versitygw');
    const folder = await mkdtemp(join(tmpdir(), 'parley-s3-'));
    await mkdir(join(folder, 'buckets'));
    await mkdir(join(folder, 'metadata'));
    const server = new S3Server({ program, folder, port: await freePort() });
    await server.up();
    return server;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async createBucket(name: string): Promise<void> {
    await mkdir(join(this.#folder, 'buckets', name));
  }

  /** Lists everything that the server holds for a bucket, also what is not an object (yet). */
  async filesOf(bucket: string): Promise<readonly string[]> {
    const entries = await readdir(join(this.#folder, 'buckets', bucket), { recursive: true, withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  }

  async up(): Promise<void> {
    const env = { ...process.env, ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey };
    const folders = ['--sidecar', join(this.#folder, 'metadata'), join(this.#folder, 'buckets')];
    const args = ['--port', `127.0.0.1:${this.port}`, '--health', '/health', '--quiet', 'posix', ...folders];
    const child = spawn(this.#program, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
    this.#child = child;
    const complaints: Buffer[] = [];
    child.stderr?.on('data', (chunk: Buffer) => complaints.push(chunk));
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`versitygw ended: ${Buffer.concat(complaints).toString()}`);
      const answer = await fetch(`${this.endpoint}/health`);
      if (!answer.ok) throw new Error(`versitygw answers ${answer.status}`);
    });
  }

  async down(): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  async remove(): Promise<void> {
    await this.down();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

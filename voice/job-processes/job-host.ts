/** Serves calls in this process, several at once where they share it. What is thrown in one ends that one alone. */
import { getJobContext, JobContext, JobProcess, runWithJobContextAsync, type RunningJobInfo } from '@livekit/agents';
import { Room, RoomEvent } from '@livekit/rtc-node';

import type { Logger } from '../../platform/logging.ts';
import { leaveRoom } from './leave-room.ts';
import type { FromJobProcess, ToJobProcess } from './messages.ts';
import type { ChildOfServer, RoleClient } from './role-client.ts';

export interface JobHostOptions {
  readonly process: ChildOfServer;
  readonly role: Pick<RoleClient, 'ask'>;
  /** Serves one call, to its end. @param stop aborts when the call has to end at once */
  readonly serve: (ctx: JobContext, stop: AbortSignal) => Promise<void>;
  readonly logger: Logger;
}

export class JobHost {
  readonly #options: JobHostOptions;
  readonly #jobs = new Map<string, AbortController>();
  readonly #left = Promise.withResolvers<void>();

  constructor(options: JobHostOptions) {
    this.#options = options;
    const { process } = options;
    process.on('message', (message) => this.#receive(message as ToJobProcess));
    process.on('uncaughtException', (err) => this.#onUncaught(err));
    // Without the agent server nothing would end these calls any more.
    process.once('disconnect', () => {
      this.#stop();
      this.#leaveIfOrphaned();
    });
  }

  /** Serves calls until the process has to exit: its calls are over. */
  async run(): Promise<void> {
    this.#send({ case: 'ready' });
    await this.#left.promise;
  }

  #receive(message: ToJobProcess): void {
    if (message.case === 'start') void this.#serve(message.job);
    else if (message.case === 'stop') this.#stop(message.jobId);
    else if (message.case === 'ping') this.#send({ case: 'pong', rssBytes: process.memoryUsage.rss() });
    else if (message.case === 'exit') this.#left.resolve();
  }

  async #serve(info: RunningJobInfo): Promise<void> {
    const { id } = info.job;
    const { logger, role, serve } = this.#options;
    const stop = new AbortController();
    this.#jobs.set(id, stop);
    const room = new Room();
    // The first change is that it is connected: the library emits no `Connected`.
    room.once(RoomEvent.ConnectionStateChanged, () => this.#send({ case: 'entered', jobId: id }));
    const ctx = new JobContext(
      new JobProcess(),
      info,
      room,
      () => undefined,
      () => undefined,
      { doInference: (method, data) => role.ask('infer', method, data) },
    );
    try {
      await runWithJobContextAsync(ctx, () => serve(ctx, stop.signal));
    } catch (err) {
      logger.error({ err, jobId: id }, 'the job failed');
    }
    await this.#leaveRoom(room, id);
    this.#jobs.delete(id);
    this.#send({ case: 'ended', jobId: id });
    this.#leaveIfOrphaned();
  }

  /** Leaves the room if the call has not: one that another job serves, or that has failed, does not leave it itself. */
  async #leaveRoom(room: Room, jobId: string): Promise<void> {
    if (!room.isConnected) return;
    await leaveRoom(room).catch((err: unknown) => this.#options.logger.warn({ err, jobId }, 'failed to leave the room of a call'));
  }

  #stop(jobId?: string): void {
    for (const [id, stop] of this.#jobs) if (jobId === undefined || jobId === id) stop.abort();
  }

  #leaveIfOrphaned(): void {
    if (!this.#options.process.connected && this.#jobs.size === 0) this.#left.resolve();
  }

  #onUncaught(err: unknown): void {
    const jobId = getJobContext(false)?.job.id;
    this.#options.logger.error(
      { err, jobId },
      jobId === undefined ? 'an error was not handled' : 'an error was not handled; it ends its call',
    );
    if (jobId !== undefined) this.#stop(jobId);
    this.#send({ case: 'worn' });
  }

  #send(message: FromJobProcess): void {
    const { process } = this.#options;
    if (process.connected) process.send?.(message);
  }
}

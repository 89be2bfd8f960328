import type { Database } from '../database.ts';
import { CallAnalyses } from './analyses.ts';
import { CallLog } from './call-log.ts';
import { CallCommands } from './commands.ts';
import { CallEvents } from './live-events.ts';
import { listCalls, type CallListOptions, type CallPage } from './call-list.ts';
import { Calls } from './calls.ts';
import { CallDeletions } from './deletions.ts';
import { CallUsage } from './call-usage.ts';
import { PersonErasures } from './erasures.ts';
import { roomsWithoutCall, unservedCalls, type UnservedCall } from './unserved.ts';
import { overdueCalls, type OverdueCall, type OverdueLimits } from './overdue.ts';

export interface CallStore {
  readonly calls: Calls;
  readonly log: CallLog;
  readonly analyses: CallAnalyses;
  readonly deletions: CallDeletions;
  readonly commands: CallCommands;
  readonly events: CallEvents;
  readonly usage: CallUsage;
  readonly erasures: PersonErasures;
  list(options: CallListOptions): Promise<CallPage>;
  /** Returns calls of all organisations. */
  unserved(): Promise<readonly UnservedCall[]>;
  /** Returns those of the rooms that no call of any organisation has. */
  withoutCall(rooms: readonly string[]): Promise<readonly string[]>;
  /** Returns calls of all organisations. */
  overdue(limits: OverdueLimits & { readonly limit?: number }): Promise<readonly OverdueCall[]>;
}

export function createCallStore(database: Database): CallStore {
  return {
    calls: new Calls(database),
    log: new CallLog(database),
    analyses: new CallAnalyses(database),
    deletions: new CallDeletions(database),
    commands: new CallCommands(database),
    events: new CallEvents(database),
    usage: new CallUsage(database),
    erasures: new PersonErasures(database),
    list: (options) => listCalls(database, options),
    unserved: () => unservedCalls(database),
    withoutCall: (rooms) => roomsWithoutCall(database, rooms),
    overdue: (limits) => overdueCalls(database, limits),
  };
}

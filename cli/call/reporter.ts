/** Writes the output of a call for a terminal, or for a script with `--json`. */
import type { SpokenLine } from '../../calls/live-transcript.ts';
import { LATENCY_NAMES, latencyText, medianLatencies, type TurnLatencies } from '../../calls/turn-latencies.ts';
import { printable } from '../printable.ts';
import { table } from '../table.ts';
import type { CallView } from './call-api.ts';

export interface Result {
  readonly call: CallView;
  /** File of the recording; undefined without one. */
  readonly recording: string | undefined;
}

export interface Reporter {
  /** Reports a step that is going on. */
  note(text: string): void;
  called(call: { readonly id: string; readonly agentName: string }): void;
  agentState(state: string): void;
  line(line: SpokenLine): void;
  result(result: Result): void;
}

interface Streams {
  readonly out: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly err: NodeJS.WritableStream;
}

/** Writes one JSON object a line to standard output. */
export function jsonReporter({ out }: Streams, now: () => number): Reporter {
  const print = (type: string, fields: object): void => {
    out.write(`${JSON.stringify({ type, at: new Date(now()).toISOString(), ...fields })}\n`);
  };
  return {
    note: (text) => print('note', { text }),
    called: ({ id, agentName }) => print('call', { call_id: id, agent: agentName }),
    agentState: (state) => print('agent_state', { state }),
    line: ({ id, role, text, final }) => print('transcript', { id, role, text, final }),
    result: ({ call, recording }) =>
      print('result', {
        call_id: call._id,
        status: call.call_status,
        reason: call.call_finish_reason ?? null,
        duration_seconds: call.call_duration_seconds ?? null,
        messages: call.messages,
        turns: call.turns,
        recording: recording ?? null,
      }),
  };
}

/** Writes only the outcome. */
export function quietReporter({ out }: Streams): Reporter {
  const nothing = (): void => undefined;
  return { note: nothing, called: nothing, agentState: nothing, line: nothing, result: (result) => void out.write(outcome(result)) };
}

/** Writes what was said to standard output, and what happens around it to standard error. On a terminal a line grows while it is said. */
export function textReporter({ out, err }: Streams): Reporter {
  let growing = '';
  const erase = (): void => {
    if (growing !== '') out.write('\r\u001B[2K');
    growing = '';
  };
  return {
    note: (text) => {
      erase();
      err.write(`${text}\n`);
    },
    called: ({ id, agentName }) => void err.write(`call ${id} to ${agentName}\n`),
    agentState: () => undefined,
    line: ({ role, text, final }) => {
      const shown = `${role === 'agent' ? 'agent' : 'you  '}  ${printable(text.trim().replaceAll(/\s+/g, ' '))}`;
      if (final) {
        erase();
        out.write(`${shown}\n`);
      } else if (out.isTTY === true) {
        erase();
        // The end of a long line is the part that is being said.
        const width = Math.max(20, (out.columns || 80) - 1);
        growing = shown.length > width ? `…${shown.slice(shown.length - width + 1)}` : shown;
        out.write(growing);
      }
    },
    result: (result) => {
      erase();
      out.write(`\n${latencies(result.call.turns)}${outcome(result)}`);
    },
  };
}

function latencies(turns: readonly TurnLatencies[]): string {
  if (turns.length === 0) return '';
  const names = Object.keys(LATENCY_NAMES) as (keyof TurnLatencies)[];
  const row = (heading: string, turn: TurnLatencies): readonly string[] => [heading, ...names.map((name) => latencyText(turn[name]))];
  return `${table(
    ['ANSWER', ...names.map((name) => LATENCY_NAMES[name].toUpperCase())],
    [...turns.map((turn, index) => row(String(index + 1), turn)), ...(turns.length > 1 ? [row('median', medianLatencies(turns))] : [])],
  )}\n`;
}

function outcome({ call, recording }: Result): string {
  const { call_status: status, call_finish_reason: reason, call_duration_seconds: seconds } = call;
  const duration = seconds === undefined ? '' : ` after ${seconds.toFixed(1)} s`;
  return `${call._id} ${status}${reason === undefined ? '' : `: ${reason}`}${duration}\n${recording === undefined ? '' : `recording: ${recording}\n`}`;
}

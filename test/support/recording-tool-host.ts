/** Plays a call that only remembers what tools ask of it. */
import { startSpan, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import type {
  HandOverOutcome,
  HandOverRequest,
  KnowledgeSource,
  ToolHost,
  TransferOutcome,
  TransferTarget,
} from '../../voice/tools/tool-host.ts';

export class RecordingHost implements ToolHost {
  readonly said: string[] = [];
  readonly transfers: TransferTarget[] = [];
  readonly handOvers: HandOverRequest[] = [];
  readonly sources: KnowledgeSource[] = [];
  ended = 0;
  transferOutcome: TransferOutcome = { outcome: 'done' };

  say(text: string): void {
    this.said.push(text);
  }

  end(): void {
    this.ended += 1;
  }

  async transfer(target: TransferTarget): Promise<TransferOutcome> {
    this.transfers.push(target);
    return this.transferOutcome;
  }

  async handOver(request: HandOverRequest): Promise<HandOverOutcome> {
    this.handOvers.push(request);
    return { outcome: 'ready', handover: request.to };
  }

  startSpan(start: SpanStart): Span {
    return startSpan(start);
  }

  recordSources(sources: readonly KnowledgeSource[]): void {
    this.sources.push(...sources);
  }
}

/** Plays a call that only remembers what tools ask of it. */
import { startSpan, type Span, type SpanStart } from '../../platform/telemetry/tracing.ts';
import type { KnowledgeSource, ToolHost, TransferOutcome, TransferTarget } from '../../voice/tools/tool-host.ts';

export class RecordingHost implements ToolHost {
  readonly said: string[] = [];
  readonly transfers: TransferTarget[] = [];
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

  startSpan(start: SpanStart): Span {
    return startSpan(start);
  }

  recordSources(sources: readonly KnowledgeSource[]): void {
    this.sources.push(...sources);
  }
}

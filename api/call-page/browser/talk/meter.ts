/** Draws a level meter: the last seconds of one side as bars, and the present level for screen readers. */
import type { LevelSource } from './conversation.ts';
import { levelOf, withLevel } from '../../session/level.ts';
import { cleared } from '../shared/dom.ts';

const EVERY_MS = 70;
const BAR = 3;
const PITCH = 5;

export interface LevelMeter {
  stop(): void;
}

export function startMeter(canvas: HTMLCanvasElement, source: LevelSource): LevelMeter {
  let levels: readonly number[] = [];
  const timer = setInterval(() => {
    levels = withLevel(levels, levelOf(source.volume()), Math.ceil(canvas.clientWidth / PITCH));
    canvas.setAttribute('aria-valuenow', String(levels.at(-1) ?? 0));
    draw(canvas, levels);
  }, EVERY_MS);
  return {
    stop() {
      clearInterval(timer);
      source.close();
      canvas.setAttribute('aria-valuenow', '0');
      draw(canvas, []);
    },
  };
}

function draw(canvas: HTMLCanvasElement, levels: readonly number[]): void {
  const { context, width, height } = cleared(canvas);
  if (context === null) return;
  context.fillStyle = getComputedStyle(canvas).color;
  for (const [index, level] of levels.entries()) {
    const bar = Math.max(2, (level / 100) * height);
    context.fillRect(width - (levels.length - index) * PITCH, (height - bar) / 2, BAR, bar);
  }
}

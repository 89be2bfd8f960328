/** From a detached supervisor to the command that started it. */
export type Message =
  | { readonly kind: 'line' | 'status'; readonly key?: string; readonly text?: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly text: string; readonly cure?: string };

/** Nothing happens where nobody listens: who started this leaves as soon as it is told `ready`. */
export function tellParent(message: Message): void {
  // It may be gone and this process not know it yet. Without somebody to tell, that would end the whole stack.
  if (process.connected) process.send?.(message, () => undefined);
}

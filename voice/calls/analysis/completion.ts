/** What a server of OpenAI's protocol answers to a chat, whether as one JSON object or as a stream of events. */
/** @returns undefined for what is no answer of this protocol */
export function completionText(body: Buffer, contentType: string): string | undefined {
  const text = body.toString('utf8');
  // Some servers stream whatever they were asked for.
  return contentType.includes('text/event-stream') ? streamed(text) : whole(text);
}

interface Choice {
  readonly message?: { readonly content?: unknown };
  readonly delta?: { readonly content?: unknown };
}

function firstChoice(text: string): Choice | undefined {
  try {
    return (JSON.parse(text) as { readonly choices?: readonly Choice[] } | null)?.choices?.[0];
  } catch {
    return undefined;
  }
}

function whole(text: string): string | undefined {
  const choice = firstChoice(text);
  // A model that says nothing has answered, too.
  return choice?.message === undefined ? undefined : textOf(choice.message.content);
}

function streamed(text: string): string | undefined {
  const choices = text
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => firstChoice(line.slice(5)));
  if (choices.every((choice) => choice === undefined)) return undefined;
  return choices.map((choice) => textOf(choice?.delta?.content)).join('');
}

/** A text, or the parts of one. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: unknown) => textOf((part as { readonly text?: unknown } | null)?.text)).join('');
}

/** Counts the requests to embedding and rerank models that the searches of a call make. */
import type { ModelUse } from '../../knowledge/model-use.ts';
import type { Search } from '../../knowledge/search/search.ts';
import type { ProviderUsage } from './counted-requests.ts';
import { countedOrByLength } from './token-usage.ts';

export function countedSearch(
  search: Pick<Search, 'search'>,
  { meter, countTokens, withholdsContent }: ProviderUsage & { readonly withholdsContent?: boolean | undefined },
): Pick<Search, 'search'> {
  const onUse = ({ kind, provider, model, texts, reported: { tokens, searchUnits = 1 } }: ModelUse): void => {
    const of = { kind, purpose: 'conversation', provider, model } as const;
    // Rerankers that report no tokens aren't paid by tokens.
    if (kind === 'rerank') meter.add(of, { requests: searchUnits, inputTokens: tokens ?? 0 });
    else if (tokens !== undefined) meter.add(of, { requests: 1, inputTokens: tokens });
    else
      meter.addLater(
        of,
        countedOrByLength(texts, countTokens).then((counts) => ({
          requests: 1,
          estimatedRequests: 1,
          inputTokens: counts.reduce((sum, count) => sum + count, 0),
        })),
      );
  };
  return { search: (request) => search.search({ ...request, withholdsContent, onUse }) };
}

import type { ListedApiKey } from '../../store/index.ts';

export function apiKeyToRest(record: ListedApiKey) {
  return {
    key_id: record.keyId,
    name: record.name,
    permissions: record.permissions,
    expiration_date: record.expirationDate.toISOString(),
    created_at: record.createdAt.toISOString(),
    revoked: record.revoked,
    user_id: record.userId ?? undefined,
    created_by_user_id: record.createdByUserId ?? undefined,
    created_by_key: record.createdByKey ?? undefined,
    last_four: record.lastFour,
  };
}

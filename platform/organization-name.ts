/** Tells whether a text can name an organisation, and thus its namespace. */
export const isOrganizationName = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);

/** Whether it can be the name of an organisation: that of a namespace. */
export const isOrganizationName = (name: string): boolean => /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name);

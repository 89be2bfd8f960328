/** The product's logo, which stands on its pages and on those of its documentation. */

/** What it draws, in a box of 22 × 20. */
export const LOGO_PATH = 'M2 8v4M6.5 5v10M11 1.5v17M15.5 6v8M20 8.5v3';

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 22 20"><path d="${LOGO_PATH}" stroke="#4a86e0" stroke-width="2.5" stroke-linecap="round"/></svg>`;

/** Address of the logo as an image, for pages that may load nothing. */
export const LOGO_ADDRESS = `data:image/svg+xml,${encodeURIComponent(svg)}`;

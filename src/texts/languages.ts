/** Languages in which Lote speaks to people. Who asks for none of them gets English. */
export const LANGUAGES = ['en', 'pt', 'es'] as const;

/** Language of a page, a file or a message for people. */
export type Language = (typeof LANGUAGES)[number];

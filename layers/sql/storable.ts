/**
 * Text and JSON in the form that PostgreSQL accepts. It refuses the NUL character and lone surrogates, and free text
 * from chains and providers may hold both; a run must not fail to finish because of the text of its error.
 */

/** Replaces what PostgreSQL cannot store by U+FFFD. */
export const storableText = (text: string): string => text.toWellFormed().replaceAll("\0", "\uFFFD")

/** Writes a JSON value as a parameter for `::jsonb`. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value ?? null, (_key, part: unknown) => (typeof part === "string" ? storableText(part) : part))

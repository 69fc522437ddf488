/** What a provider says of a refusal in its body. */
export interface Problem {
  /** The provider's own code; null where it gives none. */
  readonly code: number | null
  /** Its words; empty where it gives none. */
  readonly words: string
}

const maxLength = 300

/** A provider's words as they may be shown and logged: one bounded line, without the secrets that it may repeat. */
export const shownMessage = (words: string, secrets: ReadonlyArray<string>): string => {
  const line = words.replaceAll(/[\p{C}\s]+/gu, " ").trim()
  const shown = secrets.reduce((text, secret) => (secret === "" ? text : text.replaceAll(secret, "…")), line)
  return shown.length > maxLength ? `${shown.slice(0, maxLength)}…` : shown
}

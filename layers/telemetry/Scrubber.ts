/**
 * Blacks out secrets in text that leaves the process: the last line of defence behind Redacted.
 *
 * A third party's error message may quote a request with its credentials, and an exception may carry what it was given;
 * neither passes through a type of ours.
 */
import { Redacted } from "effect"

const apiKey = "bk_(?:live|test)_[A-Za-z0-9_-]{43}"

const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

/** Makes a function that blacks out the given secrets, as they are or as JSON writes them, and every API key. */
export const makeScrubber = (secrets: ReadonlyArray<Redacted.Redacted>): ((text: string) => string) => {
  const texts = secrets.map(Redacted.value).flatMap((text) => [text, JSON.stringify(text).slice(1, -1)])
  // Longest first, so that no part of a secret is left over where another is its beginning.
  const known = [...new Set(texts)].sort((a, b) => b.length - a.length).map(escaped)
  const pattern = new RegExp([...known, apiKey].join("|"), "gi")
  return (text) => text.replace(pattern, "<redacted>")
}

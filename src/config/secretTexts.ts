/**
 * The texts of a configuration that must not be seen, so that logs and exports can black them out. Whatever is read as
 * a secret registers itself while it is read (src/config/Setting.ts); there is no list of names.
 */
import { Context, Effect, Redacted } from "effect"

/** A shorter piece of a URL is a version or a network's name, not a key. */
const minKeyLength = 16

/** Blacking out a shorter text would black out ordinary words. */
const minSecretLength = 8

/** Passwords, and the path segments and parameters of a URL that are long enough to be a key. */
const partsOfUrl = (url: string): ReadonlyArray<string> => {
  const { password, pathname, searchParams } = new URL(url)
  const candidates = [...pathname.split("/"), ...searchParams.values()].filter((part) => part.length >= minKeyLength)
  return password === "" ? candidates : [password, decodeURIComponent(password), ...candidates]
}

const forms = (text: string): ReadonlyArray<string> =>
  /^[a-z][a-z+]*:\/\//iu.test(text) && URL.canParse(text) ? partsOfUrl(text) : [text, text.replace(/^0x/u, "")]

/** The strings of what was read: of a value, of a list, of a record, redacted or not. */
const stringsOf = (value: unknown): ReadonlyArray<string> => {
  if (typeof value === "string") return [value]
  if (Redacted.isRedacted(value)) return stringsOf(Redacted.value(value))
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsOf) : []
}

/** Where secrets are registered; nowhere unless a reading collects them. */
const SecretTexts = Context.Reference<Set<string> | null>("ballast/config/SecretTexts", { defaultValue: () => null })

const register = (found: ReadonlyArray<string>): Effect.Effect<void> =>
  Effect.map(SecretTexts, (texts) => {
    for (const text of found) if (text.length >= minSecretLength) texts?.add(text)
  })

/** Registers a value that was read as a secret. */
export const registerSecret = (value: unknown): Effect.Effect<void> => register(stringsOf(value).flatMap(forms))

const passwordsIn = (text: string): ReadonlyArray<string> => {
  const password = URL.canParse(text) ? new URL(text).password : ""
  return password === "" ? [] : [password, decodeURIComponent(password)]
}

/** Registers the passwords of URLs in a value that is no secret as a whole. */
export const registerPasswords = (value: unknown): Effect.Effect<void> =>
  register(stringsOf(value).flatMap(passwordsIn))

/** Reads, and answers the texts of all secrets that were read with what was read. */
export const withSecrets = <A, E, R>(
  reading: Effect.Effect<A, E, R>
): Effect.Effect<{ readonly read: A; readonly secrets: ReadonlyArray<Redacted.Redacted> }, E, R> =>
  Effect.suspend(() => {
    const texts = new Set<string>()
    return reading.pipe(
      Effect.provideService(SecretTexts, texts),
      Effect.map((read) => ({ read, secrets: [...texts].map((text) => Redacted.make(text)) }))
    )
  })

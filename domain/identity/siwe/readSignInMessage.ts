/**
 * Reads the text of a sign-in message line by line, and says of the first line that is not as ERC-4361 has it which one
 * it is and what was expected. Every character is accounted for: a text that is read has no other meaning to the wallet
 * that showed it. Source: ERC-4361, "ABNF Message Format".
 */
import { DateTime, Option, Result } from "effect"
import type { EvmAddress } from "#domain/values/Caip.ts"
import * as Eip55 from "#domain/values/Eip55.ts"
import type { SignInMessage } from "#domain/identity/siwe/SignInMessage.ts"

const opening =
  /^(?:(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):\/\/)?(?<domain>[^\s/?#]+) wants you to sign in with your Ethereum account:$/u

/** RFC 3339. */
const timeForm = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/u

const time = "a time in ISO 8601 with its offset, such as 2026-03-01T12:00:00.000Z"

/** What a line or a part of it says; undefined when it is not of its form. */
type Read<A> = (text: string) => A | undefined

const matching =
  (form: RegExp): Read<string> =>
  (text) =>
    form.test(text) ? text : undefined

const readTime: Read<DateTime.Utc> = (text) =>
  timeForm.test(text) ? Option.getOrUndefined(Option.map(DateTime.make(text), DateTime.toUtc)) : undefined

const readNumber: Read<number> = (text) => (/^[1-9][0-9]{0,15}$/u.test(text) ? Number(text) : undefined)

/** All lower case and all upper case will do: what was signed is the text, and the address is compared as bytes. */
const readAddress: Read<EvmAddress> = (text) => (Eip55.isValid(text) ? (Eip55.checksum(text) as EvmAddress) : undefined)

/** The lines of a text, each of which is consumed once. A failure is a detail of a refusal. */
const linesOf = (text: string) => {
  const lines = text.split("\n")
  let at = 0
  const refuse = (expected: string) => Result.fail(`message: line ${at + 1}: expected ${expected}`)
  const read = <A>(expected: string, parse: Read<A>): Result.Result<A, string> => {
    const value = at < lines.length ? parse(lines[at]!) : undefined
    if (value === undefined) return refuse(expected)
    at += 1
    return Result.succeed(value)
  }
  const startsWith = (prefix: string) => lines[at]?.startsWith(prefix) === true
  const field = <A>(name: string, expected: string, parse: Read<A>) =>
    read(`"${name}: " and ${expected}`, (line) =>
      line.startsWith(`${name}: `) ? parse(line.slice(`${name}: `.length)) : undefined
    )
  return {
    read,
    refuse,
    field,
    startsWith,
    /** A field that may be left out. */
    optional: <A>(name: string, expected: string, parse: Read<A>): Result.Result<A | null, string> =>
      startsWith(`${name}: `) ? field(name, expected, parse) : Result.succeed(null),
    isNextEmpty: () => lines[at] === "",
    isEmptyAfterNext: () => lines[at + 1] === "",
    isEnd: () => at === lines.length
  }
}

/** The fields of the text, or what is wrong with it. */
export const readSignInMessage = (text: string): Result.Result<SignInMessage, string> =>
  Result.gen(function* () {
    if (text.includes("\r")) return yield* Result.fail("message: expected lines that end with a line feed alone")
    const lines = linesOf(text)
    const { domain, scheme } = yield* lines.read(
      'the domain and " wants you to sign in with your Ethereum account:"',
      (line) => opening.exec(line)?.groups
    )
    const address = yield* lines.read("an EVM address, with a valid EIP-55 checksum when mixed-case", readAddress)
    yield* lines.read("an empty line before the statement", matching(/^$/u))
    if (!lines.isNextEmpty()) {
      // A field in the place of the statement: one of the two empty lines around no statement is missing.
      if (lines.startsWith("URI: ") && !lines.isEmptyAfterNext())
        return yield* lines.refuse("a second empty line, as the message has no statement")
      yield* lines.read("the statement, without control characters", matching(/^[^\p{Cc}\u2028\u2029]+$/u))
    }
    yield* lines.read('an empty line before "URI: "', matching(/^$/u))
    const uri = yield* lines.field("URI", "the address of the page", matching(/^\S+$/u))
    const version = yield* lines.field("Version", "1", matching(/^[0-9]{1,9}$/u))
    const chainId = yield* lines.field("Chain ID", "a decimal number, such as 8453", readNumber)
    const nonce = yield* lines.field("Nonce", "what identity.nonce answered", matching(/^[A-Za-z0-9]{8,}$/u))
    const issuedAt = yield* lines.field("Issued At", time, readTime)
    const expiresAt = yield* lines.optional("Expiration Time", time, readTime)
    const notBefore = yield* lines.optional("Not Before", time, readTime)
    yield* lines.optional("Request ID", "an id without spaces", matching(/^\S*$/u))
    if (lines.startsWith("Resources:")) {
      yield* lines.read('"Resources:" alone', matching(/^Resources:$/u))
      while (lines.startsWith("- ")) yield* lines.read("the address of a resource", matching(/^- \S+$/u))
    }
    if (!lines.isEnd())
      return yield* lines.refuse(`the end of the message${lines.isNextEmpty() ? ", without a line break" : ""}`)
    return {
      scheme: scheme ?? null,
      domain: domain!,
      address,
      uri,
      version,
      chainId,
      nonce,
      issuedAt,
      expiresAt,
      notBefore
    }
  })

/**
 * Values from the environment, read so that one start shows everything that is wrong with it.
 *
 * A problem names the variable, what is expected and an example. The value itself is shown unless it may be a secret.
 */
import { Config, Effect, Option, Result, Schema } from "effect"
import { type DescribedSetting, describeSetting } from "#src/config/describedSettings.ts"
import { registerPasswords, registerSecret } from "#src/config/secretTexts.ts"

/** What a variable holds: how its text is read, and how that is described to people. */
export interface Kind<A> {
  readonly schema: Schema.Codec<A, string>
  readonly expected: string
  readonly example: string
  /** The value is, or may contain, a secret and is never shown. */
  readonly isSecret: boolean
}

/** A part of the configuration, or what is wrong with it: one line for each variable. */
export type Setting<A> = Effect.Effect<A, ReadonlyArray<string>>

/** The environment does not describe a deployment. */
class ConfigInvalid extends Schema.TaggedError<ConfigInvalid>()("ConfigInvalid", {
  problems: Schema.Array(Schema.String)
}) {
  override get message() {
    const count = this.problems.length === 1 ? "1 problem" : `${this.problems.length} problems`
    return [`The configuration has ${count}:`, ...this.problems.map((problem) => `  - ${problem}`)].join("\n")
  }
}

const shown = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}...` : text)

const describe = <A>(name: string, kind: Kind<A>, problem: string): string =>
  `${name}: ${problem}; expected ${kind.expected}, for example ${kind.example}`

/** Null when the variable is unset, empty or blank. */
const valueOf = <A>(name: string, kind: Kind<A>): Setting<A | null> =>
  Config.option(Config.String(name)).pipe(
    Effect.mapError(() => [describe(name, kind, "cannot be read")]),
    Effect.flatMap((raw) => {
      const text = Option.getOrElse(raw, () => "").trim()
      if (text === "") return Effect.succeed(null)
      return Option.match(Schema.decodeUnknownOption(kind.schema)(text), {
        onSome: (value) => Effect.as(kind.isSecret ? registerSecret(value) : registerPasswords(value), value),
        onNone: () => Effect.fail([describe(name, kind, kind.isSecret ? "is malformed" : `is ${shown(text)}`)])
      })
    })
  )

/** Reads a variable, and records it for the list of variables. */
const read = <A>(
  name: string,
  kind: Kind<A>,
  { fallback, isRequired }: Pick<DescribedSetting, "isRequired" | "fallback">
): Setting<A | null> =>
  Effect.andThen(
    describeSetting({ name, expected: kind.expected, example: kind.example, isRequired, fallback }),
    valueOf(name, kind)
  )

/** The variable's value; null when it is unset, empty or blank. A secret registers itself for the scrubber of logs. */
export const optional = <A>(name: string, kind: Kind<A>): Setting<A | null> =>
  read(name, kind, { isRequired: false, fallback: null })

/** Reads a variable that another setting describes; null when it is unset. */
export const readAgain = <A>(name: string, kind: Kind<A>): Setting<A | null> => valueOf(name, kind)

/** Default as it would be written; null for a list that nothing was put into. */
const written = <A>(kind: Kind<A>, value: A): string | null =>
  Option.getOrNull(Schema.encodeUnknownOption(kind.schema)(value))

export const withDefault = <A>(name: string, kind: Kind<A>, fallback: A): Setting<A> =>
  Effect.map(read(name, kind, { isRequired: false, fallback: written(kind, fallback) }), (value) => value ?? fallback)

export const required = <A>(name: string, kind: Kind<A>): Setting<A> =>
  Effect.flatMap(read(name, kind, { isRequired: true, fallback: null }), (value) =>
    value === null ? Effect.fail([describe(name, kind, "is not set")]) : Effect.succeed(value)
  )

/** Reads every part and collects the problems of all of them. */
export const all = <const Settings extends Record<string, Setting<unknown>>>(
  settings: Settings
): Setting<{ readonly [K in keyof Settings]: Effect.Success<Settings[K]> }> =>
  Effect.gen(function* () {
    const values: Array<readonly [string, unknown]> = []
    const problems: Array<string> = []
    for (const [name, setting] of Object.entries(settings)) {
      const result = yield* Effect.result(setting)
      if (Result.isSuccess(result)) values.push([name, result.success])
      else problems.push(...result.failure)
    }
    if (problems.length > 0) return yield* Effect.fail(problems)
    return Object.fromEntries(values) as { readonly [K in keyof Settings]: Effect.Success<Settings[K]> }
  })

/** Ends a reading: one error with every problem. */
export const orInvalid = <A>(setting: Setting<A>): Effect.Effect<A, ConfigInvalid> =>
  Effect.mapError(setting, (problems) => new ConfigInvalid({ problems }))

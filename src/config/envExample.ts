/** The text of `.env.example`: every variable that the programs read, as they describe it themselves. */
import { ConfigProvider, Effect } from "effect"
import { type DescribedSetting, settingsOf } from "#src/config/describedSettings.ts"

/** The chain that stands for all of them. */
const shownChain = "8453"
const ofChain = /_([0-9]+)$/u

interface Shown extends DescribedSetting {
  /** The variable without which this one is not read. */
  readonly beside: string | null
}

const read = (reading: Effect.Effect<unknown, unknown>, env: Readonly<Record<string, string>>) =>
  settingsOf(Effect.provideService(reading, ConfigProvider.ConfigProvider, ConfigProvider.fromEnvRecord(env)))

/** Those of an empty environment, and behind each those that are read once it is set. */
const allOf = (reading: Effect.Effect<unknown, unknown>): Effect.Effect<ReadonlyArray<Shown>> =>
  Effect.gen(function* () {
    const always = yield* read(reading, {})
    const known = new Set(always.map(({ name }) => name))
    const groups = yield* Effect.forEach(always, (setting) =>
      Effect.map(read(reading, { [setting.name]: setting.example }), (found): ReadonlyArray<Shown> => {
        const more = found.filter(({ name }) => !known.has(name))
        for (const { name } of more) known.add(name)
        return [{ ...setting, beside: null }, ...more.map((one) => ({ ...one, beside: setting.name }))]
      })
    )
    return groups.flat()
  })

const described = ({ beside, example, expected, fallback, isRequired, name }: Shown): ReadonlyArray<string> => {
  const place = beside === null ? "" : ` Read beside ${beside}${isRequired ? ", and required there" : ""}.`
  const isMissing = isRequired && beside === null
  return [
    `# ${isMissing ? "Required: " : ""}${expected}, for example ${example}.${place}`,
    isMissing ? `${name}=` : `#${name}=${fallback ?? ""}`
  ]
}

export interface Program {
  readonly title: string
  readonly reading: Effect.Effect<unknown, unknown>
}

/** What a program reads, without what is described above; that is named alone. */
const section = ({
  title,
  settings,
  before
}: {
  title: string
  settings: ReadonlyArray<Shown>
  before: Set<string>
}) => {
  const own = settings.filter(({ name }) => !before.has(name))
  const shared = settings.filter(({ name }) => before.has(name)).map(({ name }) => name)
  for (const { name } of own) before.add(name)
  return [
    "",
    `# ${title}`,
    ...(shared.length === 0 ? [] : [`# It also reads, as described above: ${shared.join(", ")}.`]),
    ...own.flatMap((setting) => ["", ...described(setting)])
  ]
}

export const envExample = Effect.fnUntraced(function* (programs: ReadonlyArray<Program>): Effect.fn.Return<string> {
  const before = new Set<string>()
  const chains = new Set<string>()
  const sections = yield* Effect.forEach(programs, ({ reading, title }) =>
    Effect.map(allOf(reading), (settings) => {
      const shown = settings.filter(({ name }) => {
        const [, chain] = ofChain.exec(name) ?? []
        if (chain !== undefined) chains.add(chain)
        return chain === undefined || chain === shownChain
      })
      return section({ title, settings: shown, before })
    })
  )
  return [
    "# The settings of a deployment; docs/operations.md says what each variable is for.",
    "# Written by `npm run env-example` from the configuration itself. What is commented out shows its default.",
    "# At least one chain is required. Variables of a chain end with its id, which is one of",
    `# ${[...chains].join(", ")}; ${shownChain} stands for all of them here.`,
    "",
    "# compose.yaml alone: the password that it makes the database with.",
    "POSTGRES_PASSWORD=",
    ...sections.flat(),
    ""
  ].join("\n")
})

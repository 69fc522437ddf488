/** The environment variables of a program, recorded while it reads them, so that no list is kept by hand. */
import { Context, Effect } from "effect"

export interface DescribedSetting {
  readonly name: string
  readonly expected: string
  readonly example: string
  readonly isRequired: boolean
  /** Default as it would be written; null when there is none. */
  readonly fallback: string | null
}

/** Where settings are noted; nowhere unless a reading collects them. */
const Described = Context.Reference<Map<string, DescribedSetting> | null>("ballast/config/Described", {
  defaultValue: () => null
})

/** Notes a variable. Read again, it is required where one of its readers needs it. */
export const describeSetting = (setting: DescribedSetting): Effect.Effect<void> =>
  Effect.map(Described, (settings) => {
    const before = settings?.get(setting.name)
    settings?.set(setting.name, {
      ...setting,
      isRequired: setting.isRequired || before?.isRequired === true,
      fallback: setting.fallback ?? before?.fallback ?? null
    })
  })

/** The variables that a reading reads, in its order, whether it succeeds or not. */
export const settingsOf = (reading: Effect.Effect<unknown, unknown>): Effect.Effect<ReadonlyArray<DescribedSetting>> =>
  Effect.suspend(() => {
    const settings = new Map<string, DescribedSetting>()
    return Effect.as(Effect.exit(Effect.provideService(reading, Described, settings)), settings).pipe(
      Effect.map((found) => [...found.values()])
    )
  })

/**
 * Brings the checked-in catalogue up to date: `npm run catalogue -- refresh` reads its sources and prints what they say
 * otherwise; with `--write` it writes that into the files, for a review of the difference in version control.
 */
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, Layer, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { fileURLToPath } from "node:url"
import { CatalogueSourcesLive } from "#layers/catalogue/refresh/CatalogueSourcesLive.ts"
import { describeChanges, isIncomplete } from "#layers/catalogue/refresh/describeChanges.ts"
import { compareCatalogue, writeCatalogue } from "#layers/catalogue/refresh/refreshCatalogue.ts"
import { catalogueAccess } from "#src/config/catalogue.ts"
import { orInvalid } from "#src/config/Setting.ts"
import manifest from "../package.json" with { type: "json" }

const checkedIn = fileURLToPath(new URL("../layers/catalogue/tokens", import.meta.url))

/** Not all of the command was done; the lines above show why. */
class RefreshIncomplete extends Schema.TaggedError<RefreshIncomplete>()("RefreshIncomplete", {}) {
  override get message() {
    return "Not all sources were taken: lines with NOT READ and REFUSED say why. Their tokens stay as they were."
  }
}

const refresh = Command.make(
  "refresh",
  {
    write: Flag.Boolean("write").pipe(
      Flag.withDescription("Write the changes; without it they are only shown"),
      Flag.withDefault(false)
    ),
    maxRemoved: Flag.Int("max-removed").pipe(
      Flag.withDescription("Of each list, how many percent of its tokens may vanish at once"),
      Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))),
      Flag.withDefault(10)
    ),
    folder: Flag.String("folder").pipe(
      Flag.withDescription("The folder of the lists, if not that of this checkout"),
      Flag.withDefault(checkedIn)
    )
  },
  ({ folder, maxRemoved, write }) =>
    Effect.gen(function* () {
      const access = yield* orInvalid(catalogueAccess)
      const changes = yield* Effect.provide(
        compareCatalogue({ folder, maxRemovedPercent: maxRemoved }),
        CatalogueSourcesLive(access)
      )
      yield* Console.log(describeChanges(changes))
      const written = write ? yield* writeCatalogue(changes) : []
      yield* Console.log(
        write
          ? `\nWritten: ${written.length === 0 ? "nothing" : written.join(", ")}`
          : "\nNothing is written without --write"
      )
      if (isIncomplete(changes)) return yield* new RefreshIncomplete()
    })
).pipe(Command.withDescription("Read the sources of the catalogue anew and show what they say otherwise"))

const catalogue = Command.make("catalogue").pipe(
  Command.withDescription("The checked-in catalogue of tokens"),
  Command.withSubcommands([refresh])
)

catalogue.pipe(
  Command.run({ version: manifest.version }),
  Effect.tapError((error) => ("message" in error ? Console.error(error.message) : Effect.void)),
  Effect.provide(Layer.mergeAll(NodeServices.layer)),
  NodeRuntime.runMain({ disableErrorReporting: true })
)

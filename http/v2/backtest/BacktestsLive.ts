import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Backtests } from "#domain/backtest/Backtests.ts"
import { success } from "#http/v2/Envelope.ts"
import { V2 } from "#http/v2/Api.ts"
import { buildGroup } from "#http/v2/buildGroup.ts"
import { backtestDraft, backtestView } from "#http/v2/backtest/backtestView.ts"

export const BacktestsLive = HttpApiBuilder.group(
  V2,
  "backtests",
  Effect.fnUntraced(function* (handlers) {
    const backtests = yield* Backtests

    return handlers.handleAll({
      backtestStrategy: ({ payload }) =>
        Effect.map(backtests.run(backtestDraft(payload)), (backtest) => success(backtestView(backtest)))
    })
  })
).pipe(buildGroup(Backtests))

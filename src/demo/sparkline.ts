/** A line that moves: the last quotes of a coin as the stream brings them. */
import { Console, Effect, Stream } from "effect"
import { follow } from "#client/effect/marketData.ts"
import { JourneyFailed } from "#src/demo/JourneyFailed.ts"
import { line } from "#src/demo/print.ts"
import { Sandbox } from "#src/demo/Sandbox.ts"

const blocks = "▁▂▃▄▅▆▇█"
const timeout = "30 seconds"

/** One block a value, the lowest and the highest by the height of the line. */
export const draw = (values: ReadonlyArray<number>): string => {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  const height = (value: number) =>
    high === low ? 0 : Math.round(((value - low) / (high - low)) * (blocks.length - 1))
  return values.map((value) => blocks[height(value)]).join("")
}

/** Follows a share for as many bars, drawn over and over on one line. */
export const sparkline = Effect.fnUntraced(function* (symbol: string, bars: number) {
  const { overview } = yield* Sandbox
  const values: Array<number> = []
  yield* follow({ baseUrl: overview.streamBaseUrl }, { kind: "asset", assetClass: "equity", symbol }).pipe(
    Stream.filter((frame) => frame.type === "event"),
    Stream.take(bars),
    Stream.runForEach(({ data }) =>
      Effect.sync(() => {
        if (data.kind !== "ohlcv") return
        values.push(Number(data.close))
        const text = `  ${symbol}  ${draw(values).padEnd(bars)}  $${data.close}`
        if (process.stdout.isTTY) process.stdout.write(`\r${text}`)
      })
    ),
    Effect.timeout(timeout),
    Effect.catch(({ message }) => Effect.fail(new JourneyFailed({ message: `The market-data stream: ${message}` })))
  )
  if (process.stdout.isTTY) yield* Console.log("")
  else yield* line(`${symbol}  ${draw(values)}  $${values.at(-1)}`)
})

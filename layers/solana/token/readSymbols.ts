/**
 * Symbols of mints: that of the mint itself (Token-2022), else that of its metadata account (SPL Token). They are what
 * an issuer wrote and prove nothing: any mint may have any symbol.
 */
import { PublicKey } from "@solana/web3.js"
import { Effect, Option, Result } from "effect"
import type { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Account } from "#layers/solana/rpc/Requests.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"
import { type Mint, readText } from "#layers/solana/token/Mint.ts"

/** The program that keeps metadata of SPL Token mints. */
export const metadataProgram = new PublicKey("metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s")

/** The number with which an account of metadata begins. */
const metadataKind = 4

export const metadataAccount = (mint: PublicKey): PublicKey =>
  PublicKey.findProgramAddressSync(
    [new TextEncoder().encode("metadata"), metadataProgram.toBytes(), mint.toBytes()],
    metadataProgram
  )[0]

const symbolIn = (mint: PublicKey, { data, owner }: Account): string | null => {
  if (!owner.equals(metadataProgram)) return null
  const read = Result.try({
    try: () => {
      const reader = new ByteReader(data, "metadata")
      if (reader.u8() !== metadataKind) throw new MalformedBytes("another kind of account")
      reader.bytes(32)
      if (!new PublicKey(reader.bytes(32)).equals(mint)) throw new MalformedBytes("metadata of another mint")
      readText(reader)
      return readText(reader)
    },
    catch: () => null
  })
  return Result.getOrElse(read, () => null)
}

/** The symbol of each mint by its address; mints without one are missing. */
export const readSymbols = Effect.fn("solana.readSymbols")(function* (
  mints: ReadonlyArray<Mint>
): Effect.fn.Return<ReadonlyMap<string, string>, ChainUnavailable, SolanaRpc> {
  const rpc = yield* SolanaRpc
  const unnamed = mints.filter(({ symbol }) => symbol === null)
  const { values } = yield* rpc.accounts(unnamed.map(({ mint }) => metadataAccount(mint)))
  const outside = unnamed.map(
    ({ mint }, index) =>
      [
        mint.toBase58(),
        Option.match(values[index]!, { onNone: () => null, onSome: (one) => symbolIn(mint, one) })
      ] as const
  )
  const inside = mints.map(({ mint, symbol }) => [mint.toBase58(), symbol] as const)
  return new Map(
    [...inside, ...outside].filter((entry): entry is [string, string] => entry[1] !== null && entry[1] !== "")
  )
})

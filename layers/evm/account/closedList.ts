/**
 * A closed list of tokens as the guard proves it: a Merkle tree of doubly hashed addresses, pairs sorted. Source:
 * contracts/TradeGuard.sol.
 */
import { MerkleTree } from "merkletreejs"
import { encodeAbiParameters, type Hex, keccak256 } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"

type ClosedTokens = readonly [EvmAddress, ...ReadonlyArray<EvmAddress>]

const leafOf = (token: EvmAddress): Hex =>
  keccak256(keccak256(encodeAbiParameters([{ type: "address" }], [toViem(token)])))

const treeOf = (tokens: ClosedTokens) => new MerkleTree(tokens.map(leafOf), keccak256, { sortPairs: true })

/** What the owner signs. */
export const closedRoot = (tokens: ClosedTokens): Hex => treeOf(tokens).getHexRoot() as Hex

/**
 * What the guard requires for a token that is bought; empty where there is no list, and of a token that is not on it.
 */
export const closedProof = (tokens: ClosedTokens | undefined, token: EvmAddress): ReadonlyArray<Hex> =>
  tokens === undefined ? [] : (treeOf(tokens).getHexProof(leafOf(token)) as ReadonlyArray<Hex>)

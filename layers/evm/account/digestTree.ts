/**
 * Merkle tree over the chains' digests, so that one signature of the owner covers them all: pairs sorted, keccak-256,
 * as the multi-chain validator verifies it.
 */
import { MerkleTree } from "merkletreejs"
import { concatHex, encodeAbiParameters, type Hex, keccak256 } from "viem"

const treeOf = (digests: ReadonlyArray<Hex>) => new MerkleTree([...digests], keccak256, { sortPairs: true })

/** The root; of a single digest, that digest. */
export const digestRoot = (digests: ReadonlyArray<Hex>): Hex => treeOf(digests).getHexRoot() as Hex

/** The owner's signature over the root, as the validator accepts it for one of the digests. */
export const rootSignature = (ownerSignature: Hex, digests: ReadonlyArray<Hex>, digest: Hex): Hex => {
  const tree = treeOf(digests)
  return concatHex([
    ownerSignature,
    tree.getHexRoot() as Hex,
    encodeAbiParameters([{ type: "bytes32[]" }], [tree.getHexProof(digest) as Array<Hex>])
  ])
}

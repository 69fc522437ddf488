/** Begins with the files that take longest, so that no worker is left alone with one at the end. */
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Beginnings of paths below `test/`, in the order in which they go. All others follow. */
const longest = ["fault/", "simulation/", "world/", "sandbox/", "layers/engine/", "layers/evm/", "api/"]

const placeOf = ({ moduleId }: TestSpecification): number => {
  const place = longest.findIndex((path) => moduleId.includes(`/test/${path}`))
  return place === -1 ? longest.length : place
}

export class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    return (await super.sort(files)).toSorted((a, b) => placeOf(a) - placeOf(b))
  }
}

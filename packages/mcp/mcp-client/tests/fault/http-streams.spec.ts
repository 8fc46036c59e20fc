import { describeFaults } from './table.ts'

describeFaults('httpStreams')

from discrim.exports.exporting import export as export

package files

// File says which file the rows come from, as input_file_name() shows it.
func (r *reader) File() (path string, size int64) { return "file://" + r.path, r.file.size }

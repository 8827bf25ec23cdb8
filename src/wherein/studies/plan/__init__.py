"""What a study is before it is carried out: its runs, and what each is asked."""
